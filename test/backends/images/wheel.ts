/** Python that makes a package in /wheels, for pip to install without a network. */
export const makeWheel = `import zipfile, os
os.makedirs('/wheels')
with zipfile.ZipFile('/wheels/tiny_thing-1.0-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('tiny_thing.py', 'answer = 42')
    wheel.writestr('tiny_thing-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tiny-thing\\nVersion: 1.0\\n')
    wheel.writestr('tiny_thing-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('tiny_thing-1.0.dist-info/RECORD', '')
`;

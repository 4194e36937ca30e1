/** Describes functions of several modules at once, as a host does whose kits are installed together. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { programText } from '../../../../src/base/program-text.js';
import { signaturesProgram } from '../../../../src/cell/plugins/tools/inside/host-programs.js';

const folder = mkdtempSync(join(tmpdir(), 'signatures-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const inside = new URL('../../../../src/cell/plugins/tools/inside/', import.meta.url);

/** Both modules have a class of the same name, with another field. */
const program = `
import importlib, threading
sys.path.insert(0, ${JSON.stringify(folder)})
# Threads take turns as often as they can.
sys.setswitchinterval(1e-6)
wrong = []


def describe_often(field):
    tool = Tool('place', importlib.import_module('kit_' + field).place)
    for _ in range(500):
        point = tool.described()['parameters']['properties']['point']
        if point.get('required') != [field]:
            wrong.append([field, point])


threads = [threading.Thread(target=describe_often, args=(field,)) for field in ('x', 'y')]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(wrong[:3]))
`;

test('modules that are described at once keep their own classes', async () => {
  for (const field of ['x', 'y']) {
    const source = `class Point:\n    ${field}: float\n\n\ndef place(point: Point):\n    """Places it."""\n`;
    writeFileSync(join(folder, `kit_${field}.py`), source);
  }
  const text = [signaturesProgram(), programText('python-kits.py', inside.href), program].join('\n\n');
  const { stdout } = await promisify(execFile)('python3', ['-c', text]);
  expect(JSON.parse(stdout)).toEqual([]);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jupyterActions } from '../../../src/cell/plugins/jupyter/jupyter-actions.js';
import { rules } from '../../../src/runtime/security/index.js';

const risk = (command: string) => rules().analyze({ action: 'run', command }).risk;
const inCell = (code: string) =>
  rules().analyze({ action: 'run_ipython', code }, { definition: jupyterActions.run_ipython }).risk;

test.each([
  ['a path that is put together', `import os, shutil\nshutil.rmtree(os.path.join('/', 'home'))`],
  ['a path from a variable', `import shutil\ntarget = '/etc'\nshutil.rmtree(target)`],
  ['a method of a path', `from pathlib import Path\nPath('/etc/passwd').unlink()`],
  ['a path divided', `from pathlib import Path\nprint((Path.home() / '.ssh' / 'id_rsa').read_text())`],
  ['a loop over names', `import glob, os\nfor f in glob.glob('/etc/*'):\n    os.remove(f)`],
  ['a comprehension', `import os\n[os.unlink('/etc/' + f) for f in os.listdir('/etc')]`],
  ['words of a command', `import subprocess\nsubprocess.run(['rm', '-rf', '/home'])`],
  ['decoded text', `import os, base64\nos.system(base64.b64decode('cm0gLXJmIC8=').decode())`],
  ['letters by number', `import os\nos.system(chr(114) + chr(109) + ' -rf /')`],
  ['rights', `import os\nos.chmod('/usr/bin/bash', 0o4755)`],
  ['a file that is written', `open('/etc/cron.d/x', 'w').write('* * * * * root id')`],
])('code is judged by what it calls: %s', (_, code) => {
  expect(inCell(code)).toBe('high');
});

test.each([
  ['removal in the workspace', `import os, shutil\nshutil.rmtree(os.path.join('build', 'out'))`],
  ['a removal that is only printed', `print("shutil.rmtree('/')")`],
  ['a list, not a file', `names = ['/etc', 'b']\nnames.remove('b')`],
  ['a file of the project', `from pathlib import Path\nPath('src/app.py').write_text('x')`],
  ['a harmless command', `import subprocess\nsubprocess.run(['git', 'status'])`],
])('code that does no harm passes: %s', (_, code) => {
  expect(inCell(code)).toBe('low');
});

test('a file that a command writes is known when the command runs it', () => {
  expect(risk("echo 'rm -rf /home' > x.sh; bash x.sh")).toBe('high');
  expect(risk("cat > x.py <<'E'\nimport shutil\nshutil.rmtree('/etc')\nE\npython3 x.py")).toBe('high');
  expect(risk("echo 'rm -rf /home' > x.sh; mv x.sh y.sh; chmod +x y.sh; ./y.sh")).toBe('high');
  expect(risk("echo 'rm -rf dist' > x.sh; bash x.sh")).toBe('low');
  expect(risk("echo 'rm -rf /home' > notes.txt")).toBe('low');
});

test('a program nobody knows is judged by what its words start, write and reach', () => {
  expect(risk('some-runner --on-change "rm -rf /home"')).toBe('high');
  expect(risk('some-wrapper -v rm -rf /etc')).toBe('high');
  expect(risk('some-dumper --output /etc/cron.d/job')).toBe('high');
  expect(risk('some-writer /dev/sda')).toBe('high');
  expect(risk('some-client http://169.254.169.254/latest/meta-data/')).toBe('high');
  expect(risk('some-runner --on-change "npm test" --output out.json')).toBe('low');
});

test('no code makes the reader throw or hang', () => {
  const piece = fc.constantFrom(
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    "'",
    '"',
    '`',
    'for',
    'in',
    'x',
    '=',
    '|',
    '.',
    ',',
    '"""',
    'rmtree',
    '\n',
    '$',
    '::',
    'do',
    '=>',
    'open',
    '/',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 200 }), (pieces) => {
      expect(['low', 'medium', 'high', 'unknown']).toContain(inCell(pieces.join(' ')));
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['text that doubles', `x = "a"\n${'x = x + x\n'.repeat(80)}os.system(x)`],
  ['text that is put into itself', `"%s"${' % "%s%s"'.repeat(60)}`],
  ['text that is replaced by more', `"a"${'.replace("a", "aa")'.repeat(80)}`],
  ['lists that are joined', `x = ["a"]\n${'x = [" ".join([x, x])]\n'.repeat(60)}`],
  ['quotes that never end', '\\"'.repeat(20_000)],
  ['brackets that never end', 'a.b(['.repeat(8000)],
])('code that is made to cost much is answered: %s', (_, code) => {
  expect(['low', 'medium', 'high', 'unknown']).toContain(inCell(code));
});

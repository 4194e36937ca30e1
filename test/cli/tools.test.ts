import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { workcell } from './workcell.js';

const kit = fileURLToPath(new URL('../../src/testing/contract/tools/kit.ts', import.meta.url));
const python = fileURLToPath(new URL('../runtime/tools/fixtures/tools.py', import.meta.url));

describe('workcell tools', () => {
  test('list names the tools, or gives their schemas', async () => {
    const { stdout } = await workcell(['tools', 'list', '--entry', kit, '--entry', python]);
    expect(stdout).toMatch(/^add +a b +Adds two numbers\.$/m);
    expect(stdout).toMatch(/^steps +upto +Tells its steps\.$/m);
    const listed = await workcell(['tools', 'list', '--entry', python, '--json', '--strict']);
    const [add] = JSON.parse(listed.stdout);
    expect(add).toMatchObject({ name: 'add', strict: true, parameters: { required: ['a', 'b'] } });
  });

  test.each(['cli', 'sandbox'])(
    'call gives the result, and what the tool prints on stderr, in %s',
    async (backend) => {
      const call = (...words: string[]) => workcell(['tools', 'call', ...words, '--backend', backend]);
      expect(await call('add', '{"a":1,"b":2}', '--entry', 'workcell/toolkits/math')).toMatchObject({
        stdout: '3\n',
        exitCode: 0,
      });
      const said = await call('wait', '{"ms":1,"say":"hi"}', '--entry', python);
      expect(said).toMatchObject({ stdout: '"hi"\n', stderr: 'hi\nhi\n', exitCode: 0 });
    },
  );

  test.each([
    [['call', 'nobody', '--entry', kit], 66, 'There is no tool "nobody"'],
    [['call', 'add', '{"a":"x"}', '--entry', kit], 64, 'are not valid: a:'],
    [['call', 'add', '[1]', '--entry', kit], 64, 'Give a JSON object'],
    [['call', 'fail', '{"what":"error"}', '--entry', kit], 70, 'Tool "fail" failed: broken'],
    [['list', '--entry', './nothing-here.ts'], 64, 'does not exist'],
    [['list'], 64, '--entry'],
  ])('%j fails', async (words, exitCode, message) => {
    const backend = words[0] === 'call' ? ['--backend', 'cli'] : [];
    const result = await workcell(['tools', ...words, ...backend]);
    expect(result.stderr).toContain(message);
    expect(result.exitCode).toBe(exitCode);
  });
});

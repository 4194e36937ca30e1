/** CAMEL's own tool server, unchanged but for its port, and tools of a runtime that call it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRuntime, loadTools, type Runtime } from '../../../src/index.js';

const camel = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'workcell/camel');
const folder = mkdtempSync(join(tmpdir(), 'camel-api-'));
const kit = fileURLToPath(new URL('../../../src/runtime/tools/toolkits/camel-toolkit.ts', import.meta.url));

const ownTools = `
from camel.toolkits import FunctionTool
def odd(text: str):
    """Gives numbers that JSON does not have.

    Args:
        text (str): Any.
    """
    print('printed', text)
    return [float('nan'), -float('inf'), 'NaN ' + text]
odd_tool = FunctionTool(odd)
`;
const start = `
import runpy, sys, uvicorn
run = uvicorn.run
uvicorn.run = lambda app, **_: run(app, host='127.0.0.1', port=0)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name='__main__')
`;

let server: ReturnType<typeof spawn>;
let url: string;
let runtime: Runtime;

beforeAll(async () => {
  writeFileSync(join(folder, 'own_tools.py'), ownTools);
  const [python = ''] = readdirSync(join(camel, 'lib'));
  const api = join(camel, 'lib', python, 'site-packages/camel/runtimes/api.py');
  const entries = ['camel.toolkits.MathToolkit', 'own_tools.odd_tool'];
  const child = spawn(join(camel, 'bin/python3'), ['-c', start, api, ...entries], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, PYTHONPATH: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  server = child;
  let said = '';
  for await (const line of createInterface({ input: child.stderr })) {
    said += `${line}\n`;
    url = /running on (http:\S+)/.exec(line)?.[1] ?? '';
    if (url !== '') break;
  }
  expect(url, said).not.toBe('');
  runtime = await createRuntime({ backend: 'cli', config: false });
}, 60_000);
afterAll(async () => {
  await runtime?.close();
  server?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

test('all tools of the server are tools of the runtime', async () => {
  runtime.add(await loadTools(`${kit}#camelToolkit`, { arguments: { url } }));
  expect(runtime.getTools().map(({ name }) => name)).toEqual([
    'math_add',
    'math_subtract',
    'math_multiply',
    'math_divide',
    'math_round',
    'odd',
  ]);
  expect((await runtime.callTool('math_add', { a: 1, b: 2 })).result).toBe(3);
  expect((await runtime.callTool('odd', { text: 'NaN' })).result).toEqual([null, null, 'NaN NaN']);
  await expect(runtime.callTool('math_add', { a: 1, c: 2 })).rejects.toThrow(/unexpected keyword argument/);
});

test('some of them, with the schema that a model needs', async () => {
  const parameters = {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
    additionalProperties: false,
  };
  const tools = ['odd', { name: 'math_multiply', description: 'Multiplies.', parameters }];
  const [odd, multiply] = await loadTools(`${kit}#camelToolkit`, { arguments: { url: `${url}/`, tools } });
  expect(odd?.name).toBe('odd');
  expect(multiply).toMatchObject({ description: 'Multiplies.', parameters });
  await expect(loadTools(`${kit}#camelToolkit`, { arguments: { url, key: 'x' } })).rejects.toThrow(
    'has no option "key"',
  );
});

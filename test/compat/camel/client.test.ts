/** CAMEL's own client and its toolkits, as its documentation uses them, unchanged. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CliResult, workcell } from '../../cli/workcell.js';

const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
/** Where `scripts/setup --tests` installs it. */
const programs = join(cache, 'workcell/camel/bin');
const script = fileURLToPath(new URL('toolkits.py', import.meta.url));

describe('a program that uses RemoteHttpRuntime, run by workcell camel-run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'camel-client-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let result: CliResult;
  let answers: Record<string, unknown>;

  beforeAll(async () => {
    // Its server is always at this port, and whatever listens there would answer in place of it.
    expect(await isTaken(8000)).toBe(false);
    result = await workcell(['camel-run', '--backend', 'sandbox', '--', 'python3', script, folder], {
      env: {
        PATH: `${programs}:${process.env.PATH}`,
        WORKCELL_BACKENDS_SANDBOX_ENV: '{"BRAVE_API_KEY":"none"}',
      },
      cwd: folder,
    });
    expect(result).toMatchObject({ exitCode: 0 });
    answers = JSON.parse(/^answers (.*)$/m.exec(result.stdout)?.[1] ?? '{}');
  });

  test('the quick start prints its result', () => {
    expect(result.stdout).toContain('Add 1 + 2: 3\nSubtract 5 - 3: 2\nMultiply 2 * 3: 6\n');
    expect(result.stdout).toContain('listening on http://127.0.0.1:8000');
    expect(result.stdout).not.toContain('token');
  });

  test('MathToolkit computes in the cell, with its own defaults', () => {
    expect(answers).toMatchObject({
      ready: true,
      math_add: 3,
      math_multiply: 7.04,
      'third place': 2,
      math_divide: expect.stringContaining('Cannot divide by zero'),
      unknown: { error: expect.stringContaining('carry: is not a known parameter') },
    });
  });

  test('CodeExecutionToolkit runs code and commands as the user of the cell', () => {
    expect(answers.execute_code).toContain('45 true 1000');
    expect(answers.execute_command).toContain('from a shell');
    // The toolkit's output in the cell appears here.
    expect(result.stdout).toContain('Executed Results');
  });

  test('TerminalToolkit works below the workspace and talks to programs', () => {
    expect(answers.another).toBe('/workspace/terminal\nkept\n');
    expect(answers.shell_write_to_process).toContain('got this');
  });

  test('another service on localhost gets the credentials that are meant for it', () => {
    const own = `Basic ${Buffer.from('own:password').toString('base64')}`;
    expect(answers['another service']).toEqual(['None', own]);
  });

  test('SearchToolkit says that there is no network', () => {
    expect(JSON.stringify(answers.search_brave)).toMatch(/resol|connection|unreachable/i);
  });
});

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (taken: boolean) => {
      socket.destroy();
      resolve(taken);
    };
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
  });
}

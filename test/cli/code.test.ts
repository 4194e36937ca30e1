import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withDirectory, workcell } from './workcell.js';

const on = (command: string) => [command, '--backend', 'cli'];

describe('workcell code', () => {
  test('prints what the code prints, then its result', async () => {
    const { stdout, stderr, exitCode } = await workcell([...on('code'), 'print("six times seven")\n6 * 7']);
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: 'six times seven\n42\n',
      stderr: '',
      exitCode: 0,
    });
  });

  test('takes another language', async () => {
    const { stdout } = await workcell([
      ...on('code'),
      '--language',
      'javascript',
      '[20, 21].map((n) => n * 2).join()',
    ]);
    expect(stdout).toBe('40,42\n');
  });

  test('tells errors, timeouts and the death of the kernel by its exit code', async () => {
    const failed = await workcell([...on('code'), '1 / 0']);
    expect(failed).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('ZeroDivisionError') });
    const slow = await workcell([...on('code'), '--timeout', '1', 'import time; time.sleep(100)']);
    expect(slow.exitCode).toBe(124);
    const dead = await workcell([...on('code'), 'import os; os._exit(1)']);
    expect(dead).toMatchObject({ exitCode: 137, stderr: expect.stringContaining('The kernel died') });
  });

  test('writes media to files, and the observation as JSON', () =>
    withDirectory(async (workspace) => {
      const source =
        'from IPython.display import SVG, display; display(SVG("<svg xmlns=\'http://www.w3.org/2000/svg\'/>"))';
      const args = ['--workspace', workspace, '--save-media', 'media', '--json', source];
      const { stdout } = await workcell([...on('code'), ...args]);
      expect(JSON.parse(stdout)).toMatchObject({ observation: 'run_code', status: 'ok' });
      expect(readdirSync(join(workspace, 'media'))).toEqual([expect.stringMatching(/\.svg$/)]);
    }));
});

describe('workcell action', () => {
  test('carries out any action, those of plugins included, and prints its observation', () =>
    withDirectory(async (workspace) => {
      const write = await workcell([
        ...on('action'),
        '-w',
        workspace,
        'write',
        '{"path": "a", "content": "x"}',
      ]);
      expect(JSON.parse(write.stdout)).toMatchObject({ observation: 'write' });
      const cell = await workcell([
        ...on('action'),
        'run_ipython',
        '{"code": "6 * 7", "include_extra": false}',
      ]);
      expect(JSON.parse(cell.stdout)).toMatchObject({ observation: 'run_ipython', content: '42' });
    }));

  test('lists what there is, and refuses what there is not', async () => {
    const { stdout } = await workcell(on('action'));
    for (const name of ['run', 'grep', 'run_code']) expect(stdout).toMatch(new RegExp(`^${name} `, 'm'));
    expect(await workcell([...on('action'), 'fly'])).toMatchObject({
      exitCode: 64,
      stderr: expect.stringContaining('no action "fly"'),
    });
    expect(await workcell([...on('action'), 'run', '[1]'])).toMatchObject({
      exitCode: 64,
      stderr: expect.stringContaining('JSON object'),
    });
  });
});

test('workcell plugins list tells which plugins would work, with their actions', async () => {
  const { stdout, exitCode } = await workcell(['plugins', 'list', '--backend', 'cli']);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^jupyter +1\.0\.0 +ready +run_code run_ipython/m);
  const json = await workcell(['plugins', 'list', '--backend', 'cli', '--json']);
  expect(JSON.parse(json.stdout)).toContainEqual(
    expect.objectContaining({ name: 'jupyter', state: 'ready', plugin: expect.anything() }),
  );
});

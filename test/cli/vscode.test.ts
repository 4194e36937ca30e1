import { expect, test } from 'vitest';
import { start } from './workcell.js';

test('workcell vscode prints the address of the editor and stays until Ctrl-C', async () => {
  const { child, ended, printed, text } = start(['vscode', '--backend', 'cli']);
  await printed('\n');
  expect(text()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?tkn=[0-9a-f]{64}&folder=\S+\n$/);
  expect((await fetch(text().trim())).status).toBe(200);
  child.kill('SIGINT');
  expect(await ended).toMatchObject({ exitCode: 130, stderr: '' });
  await expect(fetch(text().trim())).rejects.toThrow();
});

/** A trusted file of a project runs nothing on this side: neither as a tool nor as the command for a secret. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSecurity, readTools } from '../../src/assemble.js';
import { loadConfig } from '../../src/config/load-config.js';
import { readSecret } from '../../src/config/secret-source.js';
import { trust } from '../../src/config/trusted-files.js';
import { stranger } from '../base/as-user.js';

let home: string;
let project: string;
/** Prints a secret; in the project, and beside it. */
let inside: string;
let outside: string;

beforeAll(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-named-')));
  project = join(home, 'project');
  mkdirSync(join(project, 'workcell'), { recursive: true });
  writeFileSync(join(project, 'workcell/evil.py'), '');
  inside = script(project);
  outside = script(home);
  symlinkSync(inside, join(home, 'link'));
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

function script(directory: string): string {
  const path = join(directory, 'print-token');
  writeFileSync(path, '#!/bin/sh\necho token-1\n', { mode: 0o755 });
  return path;
}

function load(toml: string, named = false) {
  const file = join(project, 'workcell.toml');
  writeFileSync(file, toml, { mode: 0o600 });
  trust(file, toml, { HOME: home });
  return loadConfig({ cwd: project, env: { HOME: home }, file: named ? file : undefined });
}

describe('tools', () => {
  test.each(['workcell/evil.py', 'workcell/toolkits/../../evil.mjs', 'workcell/toolkits/evil.py', './a.mjs'])(
    '%s is none of this package',
    async (name) => {
      const config = await load(`[tools]\nentries = [${JSON.stringify(name)}]\n`);
      await expect(readTools({}, config)).rejects.toMatchObject({
        code: 'config-untrusted',
        message: expect.stringContaining(`names the tool "${name}"`),
      });
    },
  );

  test.each(['workcell/toolkits/math', 'workcell/toolkits/math#mathToolkit'])('%s is', async (name) => {
    const tools = await readTools({}, await load(`[tools]\nentries = [${JSON.stringify(name)}]\n`));
    expect(tools).toContainEqual(expect.objectContaining({ name: 'add' }));
  });
});

describe('the command for a secret', () => {
  const secret = (command: readonly string[]) => `[secrets.A]\ncommand = ${JSON.stringify(command)}\n`;
  const key = (command: readonly string[]) =>
    `[security.llm]\nmodel = "m"\nbase_url = "https://a.example"\napi_key = { command = ${JSON.stringify(command)} }\n`;

  test.each<[string, () => string]>([
    ['a file of the project', () => secret([inside])],
    ['a link to one', () => secret([join(home, 'link')])],
    ['a shell that enters the project', () => secret(['sh', '-c', `cd ${project} && ./print-token`])],
    ['a flag with the path in it', () => secret(['make', `-sC${project}`, 'token'])],
    ['a path that a variable begins', () => secret(['sh', '-c', '. $HOME/project/print-token'])],
    ['a program that has nothing to do with the project', () => secret([outside])],
    ['the command for the key of a model', () => key([outside])],
  ])('is not named by a file that was found: %s', async (_, toml) => {
    await expect(readSecurity({}, await load(toml()))).rejects.toMatchObject({
      code: 'config-untrusted',
      message: expect.stringContaining('what it runs is not part of what was trusted'),
    });
  });

  test('may be any where the user names the file, or has it in their own', async () => {
    const { secrets } = await readSecurity({}, await load(secret([inside]), true));
    expect(secrets).toMatchObject({ A: { value: 'token-1' } });
    const own = join(home, '.config/workcell/config.toml');
    mkdirSync(dirname(own), { recursive: true });
    writeFileSync(own, secret([outside]), { mode: 0o600 });
    const beside = await readSecurity({}, await load('[security]\nguards = ["rules"]\n'));
    expect(beside.secrets).toMatchObject({ A: { value: 'token-1' } });
    rmSync(own);
  });

  test('is a program that nobody else can change', async () => {
    const command = [script(mkdtempSync(join(home, 'of-others-')))];
    await expect(readSecret('secrets.A', { command })).resolves.toBe('token-1');
    chmodSync(command[0] as string, 0o777);
    await expect(readSecret('secrets.A', { command })).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringContaining('which is not started: '),
    });
    chmodSync(command[0] as string, 0o755);
    chownSync(command[0] as string, stranger, stranger);
    await expect(readSecret('secrets.A', { command })).rejects.toThrow(`belongs to user ${stranger}`);
  });
});

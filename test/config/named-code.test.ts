/** A project's file that was trusted brings no code of the project: neither as a tool nor as the command for a secret. */
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
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTools, readTrusted } from '../../src/assemble.js';
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
    ['is no file of the project', () => secret([inside])],
    ['is no link to one', () => secret([join(home, 'link')])],
    ['runs none', () => secret(['sh', inside])],
    ['runs none by a name from where it starts', () => secret(['sh', inside.slice(1)])],
    ['runs none in a script', () => secret(['sh', '-c', `exec ${inside}`])],
    ['of a model is none either', () => key([inside])],
  ])('%s', async (_, toml) => {
    await expect(readTrusted({}, await load(toml()))).rejects.toMatchObject({
      code: 'config-untrusted',
      message: expect.stringContaining('a file of the project whose content is not part of what was trusted'),
    });
  });

  test('may be a program outside of the project, and any where the user names the file', async () => {
    for (const config of [await load(secret([outside])), await load(secret([inside]), true)]) {
      const { secrets } = await readTrusted({}, config);
      expect(secrets).toMatchObject({ A: { value: 'token-1' } });
    }
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

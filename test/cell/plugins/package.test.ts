/** A plugin as a package of its own, in a project that names it in its configuration. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { createRuntime } from '../../../src/index.js';
import { checkout, readText } from '../../house/source.js';

test('the page shows the example as it is', () => {
  expect(readText('docs/guides/plugins.md')).toContain(
    `\`\`\`js\n${readText('examples/plugin/index.js')}\`\`\`\n`,
  );
});

test.each(['cli', 'local', 'sandbox'] as const)(
  'the example works from outside this tree, on %s',
  async (backend) => {
    const config = await makeProject(
      'plugins = [{ name = "workcell-plugin-words", options = { start = 40 } }]\n',
    );
    await using runtime = await createRuntime({ backend, config });
    await runtime.write('note.txt', 'two words');
    const answer = await runtime.execute({ action: 'count_words', path: 'note.txt' } as never);
    expect(answer).toEqual({ observation: 'count_words', words: 2, total: 42 });
    expect((await runtime.run('echo $WORDS')).output).toBe('counted\n');
    const found = (await runtime.capabilities()).filter(({ plugin }) => plugin !== undefined);
    expect(found).toMatchObject([{ name: 'words', state: 'ready', plugin: { actions: ['count_words'] } }]);
  },
);

test('a package that is not there is refused by its name', async () => {
  const config = await makeProject('plugins = ["workcell-plugin-none"]\n');
  await expect(createRuntime({ backend: 'cli', config })).rejects.toMatchObject({
    code: 'invalid-config',
    message: expect.stringContaining('"workcell-plugin-none" cannot be loaded'),
  });
});

test('a list that is none is refused with what is accepted', async () => {
  const config = await makeProject('plugins = "jupyter"\n');
  await expect(createRuntime({ backend: 'cli', config })).rejects.toMatchObject({
    code: 'invalid-config',
    message: expect.stringContaining('Accepted: a list of names'),
  });
});

/** A directory with the packages that an installation would leave in it; gives the path of its configuration. */
async function makeProject(configuration: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'plugin-project-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const modules = join(folder, 'node_modules');
  cpSync(join(checkout, 'examples/plugin'), join(modules, 'workcell-plugin-words'), { recursive: true });
  symlinkSync(join(checkout, 'node_modules/zod'), join(modules, 'zod'));
  mkdirSync(join(modules, 'workcell'));
  writeFileSync(
    join(modules, 'workcell/package.json'),
    JSON.stringify({ name: 'workcell', type: 'module', exports: { './plugins': './plugins.js' } }),
  );
  await build({
    entryPoints: [join(checkout, 'src/cell/plugins/index.ts')],
    outfile: join(modules, 'workcell/plugins.js'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'silent',
  });
  const file = join(folder, 'workcell.toml');
  writeFileSync(file, configuration);
  return file;
}

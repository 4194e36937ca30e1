/** The example of a plugin as a package outside this tree, in a project that installed it. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, onTestFinished } from 'vitest';
import type { Runtime } from '../../../src/index.js';
import { checkout } from '../../house/source.js';

export const wordsSettings = 'plugins = [{ name = "workcell-plugin-words", options = { start = 40 } }]\n';

/** A policy that judges the example's action by the kind of its one field. */
export const wordsPolicy = { rules: [{ decision: 'deny', path: '**/secret.txt' }] } as const;

/** A directory with the packages that an installation would leave in it; gives the path of its configuration. */
export async function makeProject(configuration: string): Promise<string> {
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

/**
 * Its action runs and is judged by its kinds, its verb and its variables exist: for a runtime with the policy above.
 */
export async function provesWords(runtime: Runtime): Promise<void> {
  await runtime.write('note.txt', 'two words');
  const answer = await runtime.execute({ action: 'count_words', path: 'note.txt' });
  expect(answer).toEqual({ observation: 'count_words', words: 2, total: 42 });

  const words: number = await runtime.countWords('note.txt');
  expect(words).toBe(2);
  // @ts-expect-error: the verb is typed by the package that brings it.
  await expect(runtime.countWords(7)).rejects.toMatchObject({ code: 'invalid-action' });

  await expect(runtime.countWords('secret.txt')).rejects.toMatchObject({ code: 'denied' });
  for await (const event of runtime.events.since(0)) {
    if (event.kind !== 'decision' || event.decision.outcome !== 'deny') continue;
    expect(event.decision).toMatchObject({ by: 'rule' });
    break;
  }

  expect((await runtime.run('echo $WORDS')).output).toBe('counted\n');
  const found = (await runtime.capabilities()).filter(({ plugin }) =>
    plugin?.actions.includes('count_words'),
  );
  expect(found).toMatchObject([{ name: 'words', state: 'ready' }]);
}

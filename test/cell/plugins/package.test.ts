/** A plugin as a package of its own, in a project that names it in its configuration. */
import { expect, test } from 'vitest';
import { createRuntime } from '../../../src/index.js';
import { readText } from '../../house/source.js';
import { makeProject, provesWords, wordsPolicy, wordsSettings } from './words.js';

test('the page shows the example as it is', () => {
  const page = readText('docs/guides/plugins.md');
  expect(page).toContain(`\`\`\`js\n${readText('examples/plugin/index.js')}\`\`\`\n`);
  expect(page).toContain(`\`\`\`ts\n${readText('examples/plugin/index.d.ts')}\`\`\`\n`);
});

test.each(['cli', 'local', 'sandbox'] as const)(
  'the example works from outside this tree, on %s',
  async (backend) => {
    const config = await makeProject(wordsSettings);
    await using runtime = await createRuntime({ backend, config, policy: wordsPolicy });
    await provesWords(runtime);
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

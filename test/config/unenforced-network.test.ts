/** Network rules on backends that cannot hold them: refused, unless the caller says that the cell may start in spite of them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRuntime, type Runtime } from '../../src/index.js';
import { refusal } from '../../src/testing/contract/given.js';
import { withDirectory, workcell } from '../cli/workcell.js';

type Options = Parameters<typeof createRuntime>[0];

const start = (options: object) => createRuntime({ backend: 'cli', ...options } as Options);

async function messagesOf(runtime: Runtime): Promise<string[]> {
  const messages: string[] = [];
  for await (const event of runtime.events.since(0, { kinds: ['status'] })) {
    if (event.kind === 'status') messages.push(event.status.message);
    if (event.kind === 'status' && event.status.status === 'RUNTIME_STARTED') return messages;
  }
  return messages;
}

function withSettings(text: string, use: (config: string) => Promise<void>): Promise<void> {
  return withDirectory(async (directory) => {
    const config = join(directory, 'workcell.toml');
    writeFileSync(config, text);
    await use(config);
  });
}

const promise = 'Nothing holds the network rules in a cli cell: it reaches everything.';

test('rules are refused, and the message tells of the way out', async () => {
  const { message } = await refusal(start({ network: { allow: ['a.test'] } }), 'capability-unsupported');
  expect(message).toContain('network.unenforced');
});

test('the cell starts where the caller says so, its facts and its record tell', async () => {
  await using runtime = await start({ network: { allow: ['a.test'], unenforced: true } });
  expect((await runtime.run('echo here')).output).toBe('here\n');
  expect(runtime.network.rules()).toBeUndefined();
  expect(runtime.isolation.facts.find(({ code }) => code === 'network')).toMatchObject({ enforced: false });
  expect(await messagesOf(runtime)).toContain(promise);
});

test('what the settings hold for every cell, only the settings give up', () =>
  withSettings('[network]\ndeny = ["a.test"]\n', async (config) => {
    const network = { allow: ['b.test'], unenforced: true };
    await refusal(start({ config, network }), 'capability-unsupported');
    await refusal(start({ config }), 'invalid-config');
    writeFileSync(config, '[network]\nlimits = { connections = 3 }\n');
    await refusal(start({ config, network }), 'capability-unsupported');
    writeFileSync(config, '[network]\ndeny = ["a.test"]\nunenforced = true\n');
    for (const options of [{ config }, { config, network: { allow: ['b.test'] } }]) {
      await using runtime = await start(options);
      expect(await messagesOf(runtime)).toContain(promise);
    }
  }));

test('it opens no network where there is one to close', async () => {
  const network = { allow: ['a.test'], unenforced: true };
  await using runtime = await start({ backend: 'sandbox', network });
  expect(runtime.network.rules()).toMatchObject({ allow: ['a.test'] });
});

test('a secret that stays outside needs rules that hold', async () => {
  const secrets = { TOKEN: { value: 'a long value', reach: 'network', hosts: ['a.test'] } };
  const network = { allow: ['a.test'], unenforced: true };
  await refusal(start({ network, secrets }), 'invalid-config');
});

test('on the command line', async () => {
  const words = ['run', '--backend', 'cli', '--allow', 'a.test'];
  expect((await workcell([...words, 'echo here'])).exitCode).not.toBe(0);
  const { stdout, stderr } = await workcell([...words, '--unenforced', 'echo here']);
  expect(stdout).toBe('here\n');
  expect(stderr).toContain(promise);
});

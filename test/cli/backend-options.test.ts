import { expect, test } from 'vitest';
import { addBackendOptions } from '../../src/cli/backend-options.js';
import { createProgram } from '../../src/cli/program.js';

test.each([
  ['service', '--api-key'],
  ['remote', '--token'],
])('a secret of backend %s has no flag, the file that holds it has', async (backend, flag) => {
  const program = createProgram();
  await addBackendOptions(program, ['run', '--backend', backend, 'true'], createProgram);
  const run = program.commands.find((command) => command.name() === 'run');
  const flags = run?.options.map(({ long }) => long);
  expect(flags).toContain(`${flag}-file`);
  expect(flags).not.toContain(flag);
});

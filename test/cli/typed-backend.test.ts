import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { backendNames } from '../../src/backends/index.js';
import { addBackendOptions, givenBackendOptions } from '../../src/cli/backend-options.js';
import { createProgram } from '../../src/cli/program.js';
import { readBackend } from '../../src/cli/typed-backend.js';
import { workcell } from './workcell.js';

const folder = mkdtempSync(join(tmpdir(), 'workcell-typed-'));
const loaded = join(folder, 'loaded');
const planted = join(folder, 'planted.mjs');
writeFileSync(
  planted,
  `import { writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(loaded)}, '');
const shape = { shape: {}, safeParse: (data) => ({ success: true, data }) };
export default { type: 'planted', options: shape, place: shape, probe() {}, start() {} };\n`,
);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the words of a command for the cell', () => {
  const naming = [
    ['-b', planted],
    [`-b${planted}`],
    ['-vb', planted],
    ['--backend', planted],
    [`--backend=${planted}`],
  ];
  const starts = [
    ['run', 'git', 'checkout'],
    ['run', '--'],
    ['run', '--', 'echo'],
    ['run', '--backend', 'cli', 'echo'],
    ['run', '--backend=cli', '--workspace', '.', '--', 'echo'],
    ['run', '--files', 'isolated', 'echo'],
    ['run', '--json', '--unknown', 'echo'],
    ['run', '--timeout', 'soon', 'echo'],
    ['--', 'run'],
    ['code', '--'],
    ['tools', 'call', '--'],
  ];

  test.each(starts.flatMap((start) => naming.map((words) => [[...start, ...words]])))(
    '%j load nothing',
    async (words) => {
      await addBackendOptions(createProgram(), words, createProgram);
      expect(existsSync(loaded)).toBe(false);
    },
  );

  test('reach the command as they are', async () => {
    const words = ['echo', '-b', './planted.mjs', '--backend=./planted.mjs', '--backend', './planted.mjs'];
    const { stdout, exitCode } = await workcell(['run', '--no-config', '-b', 'cli', '--', ...words], {
      cwd: folder,
    });
    expect({ stdout, exitCode }).toEqual({ stdout: `${words.slice(1).join(' ')}\n`, exitCode: 0 });
    expect(existsSync(loaded)).toBe(false);
  });
});

describe('the options of a command', () => {
  test.each([
    [['run', '-b', 'docker', 'true']],
    [['run', '-bdocker', 'true']],
    [['run', '-vb', 'docker', 'true']],
    [['run', '--backend=docker', '--image', 'x', 'true']],
    [['run', '--help', '--backend', 'docker']],
    [['run', '--backend', 'cli', '--backend', 'docker', 'true']],
    [['run', '--timeout', 'soon', '--backend', 'docker', 'true']],
    [['code', 'print(1)', '--image', 'x', '--backend', 'docker']],
    [['cells', '--backend', 'docker']],
    [['cells', 'stop', '3f9a', '--backend', 'docker']],
    [['camel-server', '8000', '--backend', 'docker']],
  ])('%j name the backend', (words) => {
    expect(readBackend(words, createProgram).backend).toBe('docker');
  });

  test('may stand in front of --backend where they are those of a backend of this package', async () => {
    const program = createProgram();
    await addBackendOptions(
      program,
      ['run', '--image', 'x', '--ports', '1', '--backend', 'docker', 'true'],
      createProgram,
    );
    const run = program.commands.find((command) => command.name() === 'run');
    expect(run?.options.map(({ long }) => long)).toContain('--image');
  });

  test('take a value with every backend of this package, or with none', async () => {
    const takesValue = new Map<string, boolean>();
    for (const name of backendNames) {
      const program = createProgram();
      await addBackendOptions(program, ['run', '--backend', name], createProgram);
      const run = program.commands.find((command) => command.name() === 'run');
      for (const option of run?.options ?? []) {
        expect([option.long, takesValue.get(option.long ?? '') ?? option.required]).toEqual([
          option.long,
          option.required,
        ]);
        takesValue.set(option.long ?? '', option.required);
      }
    }
  });

  test.each<[string[], object]>([
    [['mcp', '--read-only', '--backend', 'sandbox', '--network', 'host'], { network: 'host' }],
    [['run', '--read-only', '/srv', '--backend', 'sandbox', 'true'], { readOnly: ['/srv'] }],
    [['mcp', '--token-file', 'own', '--backend', 'remote', '--url', 'http://a'], { url: 'http://a' }],
  ])('%j give the backend its own', async (words, expected) => {
    const program = createProgram();
    await addBackendOptions(program, words, createProgram);
    const command = program.commands.find((each) => each.name() === words[0]);
    const given = new Promise((resolve) =>
      command?.action(() => resolve(givenBackendOptions(command.opts()))),
    );
    await program.parseAsync(words, { from: 'user' });
    expect(await given).toEqual(expected);
  });

  test('load the module that they name', async () => {
    await addBackendOptions(createProgram(), ['run', '--backend', planted, 'true'], createProgram);
    expect(existsSync(loaded)).toBe(true);
  });
});

import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { backendNames } from '../../src/backends/index.js';
import { createProgram } from '../../src/cli/program.js';
import { programFor } from '../../src/cli/program-for.js';
import { generalSettings } from '../../src/config/config-settings.js';
import { isolationTiers } from '../../src/protocol/index.js';
import { withDirectory, workcell } from './workcell.js';

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

describe('usage', () => {
  test('--version prints the version alone', async () => {
    expect(await workcell(['--version'])).toEqual({ stdout: `${version}\n`, stderr: '', exitCode: 0 });
  });

  test.each([
    [['--help']],
    [['run', '--help']],
    [['shell', '--help']],
    [['help', 'doctor']],
    [['config', '-h']],
  ])('%j prints help that fits a terminal', async (args) => {
    const { stdout, stderr, exitCode } = await workcell(args);
    expect(stdout).toMatch(/^Usage: workcell /);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  });

  test.each([
    [['rnu'], "Unknown command 'rnu'. Did you mean run?"],
    [['run', '--bakend', 'cli', 'x'], "Unknown option '--bakend'. Did you mean --backend?"],
    [['run'], "Missing required argument 'command'."],
    [['logs'], 'Name a cell; "workcell cells" lists those that were kept.'],
    [['run', '--timeout', 'soon', 'x'], 'Give seconds'],
    [['run', '--env', '1A=x', 'x'], 'Give NAME=value'],
    [['action', 'raed', '{}', '--backend', 'cli'], 'There is no action "raed". Did you mean read?'],
    [['doctor', 'extra'], 'Too many arguments'],
    [['cells', 'stp', 'x'], "Unknown command 'cells stp'. Did you mean stop?"],
    [['help', 'evnts'], "Unknown command 'evnts'. Did you mean events?"],
    [[], 'A command is missing.'],
  ])('%j is refused with 64 and says what was meant', async (args, message) => {
    const { stdout, stderr, exitCode } = await workcell(args);
    expect(stderr).toContain(`workcell: `);
    expect(stderr).toContain(message);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 64 });
  });

  test('a mistake in a command below a command ends as one in any other, with its JSON', async () => {
    const groups = createProgram().commands.filter(({ commands }) => commands.length > 0);
    const inner = groups.flatMap((group) => group.commands.map((command) => [group.name(), command.name()]));
    expect(inner).toContainEqual(['plugins', 'add']);
    const results = await Promise.all(inner.map((words) => workcell([...words, '--json', '--nonsense'])));
    for (const { stdout, stderr, exitCode } of results) {
      expect(stderr).toMatch(/^workcell: .+\n$/);
      expect(exitCode).toBe(64);
      if (stdout !== '') expect(JSON.parse(stdout).error.code).toBe('invalid-action');
    }
    expect(results.filter(({ stdout }) => stdout !== '').length).toBeGreaterThan(5);
    const { stderr } = await workcell(['plugins', 'list', '--jsno']);
    expect(stderr).toContain("Unknown option '--jsno'. Did you mean --json?");
  });

  test('a message cannot steer the terminal', async () => {
    const { stderr } = await workcell(['run', '--backend', '\x1b]0;title\x07\x1b[2Jx', 'true']);
    expect(stderr).not.toContain('\x1b');
  });
});

describe('doctor', () => {
  test('--json tells about every backend and program', async () => {
    const { stdout, exitCode } = await workcell(['doctor', '--json']);
    const report = JSON.parse(stdout);
    expect(Object.keys(report.backends)).toEqual(backendNames);
    for (const { facts = [], ...probe } of Object.values<Record<string, unknown>>(report.backends)) {
      expect(facts).toBeInstanceOf(Array);
      expect(probe).toEqual({
        available: expect.any(Boolean),
        tier: expect.stringMatching(new RegExp(`^(${isolationTiers.join('|')})$`)),
        summary: expect.stringMatching(/./),
        advice: expect.any(Array),
      });
    }
    expect(report.backends.cli).toMatchObject({ available: true, tier: 'none' });
    expect(report.programs).toMatchObject({ bash: expect.stringMatching(/^\d/) });
    expect(report.node).toBe(process.version);
    expect(report.network).toEqual({ rules: null, open: null });
    const { driver, cards, obstacle } = report.gpu;
    expect(cards).toBeInstanceOf(Array);
    if (driver === null) expect(obstacle).toContain('no NVIDIA card');
    expect(exitCode).toBe(0);
  });

  test('is a table to a person, and starts no program of the directory it is called in', () =>
    withDirectory(async (cwd) => {
      for (const name of ['bash', 'git', 'bwrap', 'mkfifo', 'docker']) {
        writeFileSync(join(cwd, name), `#!/bin/sh\ntouch ${cwd}/fooled\necho 99.9\n`, { mode: 0o755 });
      }
      const { stdout, exitCode } = await workcell(['doctor'], { cwd, env: { PATH: '.::bin:' } });
      expect(stdout).toMatch(/^BACKEND +HERE +ISOLATION/);
      expect(stdout).toMatch(/^cli +yes +none /m);
      expect(stdout).toMatch(/^bash +\d/m);
      expect(stdout).not.toContain('99.9');
      // Wrapping is for terminals; elsewhere a row is one line, which a person has to read, too.
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(220);
      expect(existsSync(join(cwd, 'fooled'))).toBe(false);
      expect(exitCode).toBe(0);
    }));

  test('--details has a row for each fact of a cell', async () => {
    const { stdout } = await workcell(['doctor', '--details']);
    expect(stdout).toMatch(/^A CELL OF +FACT +ENFORCED/m);
    expect(stdout).toMatch(/^sandbox +seccomp +yes +A filter refuses/m);
  });
});

describe('config', () => {
  test('shows every setting with its value and source, and no values of variables', () =>
    withDirectory(async (cwd) => {
      const file = join(cwd, 'workcell.toml');
      writeFileSync(file, '[sandbox]\ntimeout = 5\nruntime_startup_env_vars = { TOKEN = "hunter2" }\n');
      const env = { WORKCELL_BACKEND: 'cli' };
      const { stdout } = await workcell(['config', '--json', '--config', file], { cwd, env });
      const { files, settings } = JSON.parse(stdout);
      expect(files).toEqual([file]);
      expect(Object.keys(settings)).toEqual(generalSettings.map(({ key }) => key));
      expect(settings).toMatchObject({
        backend: { value: 'cli', source: 'WORKCELL_BACKEND' },
        workspace: { value: null, source: 'default' },
        'sandbox.timeout': { value: 5, source: file },
        'sandbox.runtime_startup_env_vars': { value: { TOKEN: '[hidden]' }, source: file },
      });
      const table = (await workcell(['config'], { cwd, env })).stdout;
      expect(table).toMatch(/^backend +cli +WORKCELL_BACKEND$/m);
      expect(table + stdout).not.toContain('hunter2');
    }));

  test('a bad file stops every command with 78', () =>
    withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'workcell.toml'), 'bakend = "cli"\n');
      for (const args of [['config'], ['run', '--backend', 'cli', 'true']]) {
        const { stdout, stderr, exitCode } = await workcell(args, { cwd });
        expect(stderr).toMatch(/^workcell: The key bakend .*Did you mean backend\?/);
        expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 78 });
      }
    }));

  test('a named file must exist', async () => {
    const { stderr, exitCode } = await workcell(['config', '--config', 'nowhere.toml']);
    expect(stderr).toContain('nowhere.toml does not exist');
    expect(exitCode).toBe(78);
  });
});

describe('logs', () => {
  test('--verbose logs JSON lines to standard error, and output stays clean', async () => {
    const { stdout, stderr } = await workcell(['run', '--backend', 'cli', '--verbose', 'echo hi']);
    expect(stdout).toBe('hi\n');
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ status }) => status)).toContain('READY');
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'info', action: 'run', outcome: 'ok', exitCode: 0, endedBy: 'exit' }),
    );
    expect(lines).toContainEqual(expect.objectContaining({ level: 'debug', msg: 'The cell enforces none' }));
    expect(stderr).not.toContain('echo hi');
  });

  test('[log] level decides without it, and --log-level above both', async () => {
    const env = { WORKCELL_LOG_LEVEL: 'info' };
    const run = ['run', '--backend', 'cli'];
    const [configured, given] = await Promise.all([
      workcell([...run, 'true'], { env }),
      workcell([...run, '--verbose', '--log-level', 'error', 'true'], { env }),
    ]);
    expect(configured.stderr).toContain('"status":"READY"');
    expect(given.stderr).toBe('');
  });
});

test('a command is the same alone as among all', async () => {
  for (const command of createProgram().commands) {
    const name = command.name();
    const { commands } = (await programFor([name, 'word']))();
    const isAlone = name !== 'completion';
    expect(commands.map((each) => each.name()).includes(name)).toBe(true);
    expect([name, commands.length === 1]).toEqual([name, isAlone]);
    const found = commands.find((each) => each.name() === name);
    expect(found?.helpInformation()).toBe(command.helpInformation());
  }
});

test.each([[], ['help'], ['--verbose', 'run'], ['toString'], ['rum']])(
  'words that begin with no command are for all of them: %j',
  async (...words) => {
    expect((await programFor(words))().commands.length).toBe(createProgram().commands.length);
  },
);

/** What a cloned repository, or an agent in its workspace, can make the next command do. */
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CliOptions, withDirectory, workcell } from './workcell.js';

interface Clone {
  /** Where the repository is; loading `plugin.mjs` in it creates `fooled`. */
  readonly cwd: string;
  readonly fooled: () => boolean;
  readonly say: (toml: string) => void;
  readonly call: (...args: string[]) => ReturnType<typeof workcell>;
}

function withClone(use: (clone: Clone) => Promise<void>, env: CliOptions['env'] = {}): Promise<void> {
  return withDirectory(async (place) => {
    const home = join(place, 'home');
    const cwd = join(place, 'clone');
    for (const path of [home, cwd]) mkdirSync(path);
    const mark = join(place, 'fooled');
    writeFileSync(
      join(cwd, 'plugin.mjs'),
      `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(mark)}, '');\n`,
    );
    await use({
      cwd,
      fooled: () => existsSync(mark),
      say: (toml) => writeFileSync(join(cwd, 'workcell.toml'), toml),
      call: (...args) =>
        workcell(args, { cwd, env: { HOME: home, XDG_STATE_HOME: join(home, 's'), ...env } }),
    });
  });
}

const ways = {
  run: ['run', '--workspace', '.', 'true'],
  mcp: ['mcp', '--workspace', '.'],
  'openhands-agent-server': ['openhands-agent-server', '--port', '0', '--workspace', '.'],
  events: ['events'],
  cells: ['cells'],
};

describe('a workcell.toml in the repository', () => {
  test.each(Object.entries(ways))('does not make "workcell %s" load its plugin', (_name, args) =>
    withClone(async ({ call, say, fooled, cwd }) => {
      say('backend = "cli"\nplugins = ["./plugin.mjs"]\n');
      const { stderr, exitCode } = await call(...args);
      expect(stderr).toContain(`${realpathSync(cwd)}/workcell.toml sets backend, plugins, and nobody`);
      expect(exitCode).toBe(78);
      expect(fooled()).toBe(false);
    }),
  );

  test('counts once it is trusted, and no longer when it was changed', () =>
    withClone(async ({ call, say, cwd }) => {
      say('backend = "cli"\n[sandbox.runtime_startup_env_vars]\nTOKEN = "hunter2"\n');
      const trusted = await call('trust');
      expect(trusted.stdout).toContain(`${realpathSync(cwd)}/workcell.toml\n  backend = "cli"\n`);
      expect(trusted.stdout).not.toContain('hunter2');
      expect((await call('run', 'echo $TOKEN')).stdout).toBe('hunter2\n');
      expect((await call('trust', '--list')).stdout).toMatch(/clone\/workcell\.toml +trusted +\d/);
      say('backend = "cli"\n[sandbox.runtime_startup_env_vars]\nBASH_ENV = "./evil"\n');
      const changed = await call('run', 'true');
      expect(changed).toMatchObject({ exitCode: 78, stdout: '' });
      expect(changed.stderr).toContain('the file has changed since it was trusted');
      expect((await call('untrust')).stdout).toContain('No longer trusted');
      expect((await call('run', '--no-config', '--backend', 'cli', 'echo on')).stdout).toBe('on\n');
    }));

  test('brings no code of the repository even when it is trusted', () =>
    withClone(async ({ call, say, fooled }) => {
      say('backend = "cli"\nplugins = ["jupyter", "./plugin.mjs"]\n');
      expect((await call('trust', '.')).exitCode).toBe(0);
      const { stderr, exitCode } = await call('run', 'true');
      expect(stderr).toContain(
        'names the plugin "./plugin.mjs", whose content is not part of what was trusted',
      );
      expect(exitCode).toBe(78);
      expect(fooled()).toBe(false);
      say('backend = "cli"\nplugins = ["jupyter"]\n');
      await call('trust');
      expect((await call('run', 'echo on')).stdout).toBe('on\n');
      say('backend = "cli"\nplugins = ["./plugin.mjs"]\n');
      await call('run', '--config', 'workcell.toml', 'true');
      expect(fooled()).toBe(true);
    }));

  test('is shown by "workcell config" with what does not count', () =>
    withClone(async ({ call, say, cwd }) => {
      say('backend = "cli"\nmin_isolation = "namespace"\n');
      const { stdout, exitCode } = await call('config');
      const file = `${realpathSync(cwd)}/workcell.toml`;
      expect(stdout).toContain(`Not honoured: backend in ${file}: nobody has trusted the file\n`);
      expect(stdout).toMatch(/^backend +- +default$/m);
      expect(exitCode).toBe(0);
      expect(JSON.parse((await call('config', '--json')).stdout)).toMatchObject({
        files: [file],
        settings: { min_isolation: { value: 'namespace', source: file } },
        notHonoured: [{ file, key: 'backend' }],
      });
    }));
});

describe('the user’s own words', () => {
  test('in a variable lead to no plugin of the directory that a command is called in', () =>
    withClone(
      async ({ call, cwd, fooled }) => {
        mkdirSync(join(cwd, 'node_modules/helper'), { recursive: true });
        writeFileSync(
          join(cwd, 'node_modules/helper/package.json'),
          '{"name":"helper","type":"module","exports":"../../plugin.mjs","main":"../../plugin.mjs"}',
        );
        const { stderr, exitCode } = await call('run', '--backend', 'cli', 'true');
        expect(stderr).toContain('"helper" cannot be loaded');
        expect(exitCode).toBe(78);
        expect(fooled()).toBe(false);
      },
      { WORKCELL_PLUGINS: '["helper"]' },
    ));

  test('in a variable with a relative file are refused', () =>
    withClone(
      async ({ call, fooled }) => {
        const { stderr } = await call('run', '--backend', 'cli', 'true');
        expect(stderr).toContain('WORKCELL_PLUGINS names the plugin "./plugin.mjs"');
        expect(fooled()).toBe(false);
      },
      { WORKCELL_PLUGINS: '["./plugin.mjs"]' },
    ));
});

test('a search path with the current directory in it starts none of its programs', () =>
  withClone(
    async ({ call, cwd, fooled }) => {
      const names = 'bash sh bwrap mkfifo git cp rm chmod taskset prlimit setpriv choom node ps docker';
      for (const name of names.split(' ')) {
        writeFileSync(join(cwd, name), `#!/bin/sh\ntouch ${join(cwd, '../fooled')}\nexit 1\n`, {
          mode: 0o755,
        });
      }
      const { stdout, stderr } = await call('run', '--backend', 'sandbox', 'echo on');
      expect(stderr).toBe('');
      expect(stdout).toBe('on\n');
      expect(fooled()).toBe(false);
    },
    { PATH: `.::${process.env.PATH}` },
  ));

/** Published failures of other products, each tried here. */
import { symlinkSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AbuseCase, demand } from '../case.js';
import { permitted, python, refusal, run, stillWorks } from '../inside.js';

export const publicCases: readonly AbuseCase[] = [
  {
    id: 'public.symlink-escape',
    title: 'a link to outside that was in the workspace before the cell started (CVE-2026-39861)',
    expected: 'blocked',
    async attack(_, tools) {
      const { canary } = tools;
      const workspace = await mkdtemp(join(tmpdir(), 'workcell-abuse-'));
      tools.finally(() => rm(workspace, { recursive: true, force: true }));
      symlinkSync(canary.directory, join(workspace, 'out'));
      const cell = await tools.cell({ workspace });
      for (const path of ['out/canary', 'out/../out/canary']) {
        const seen = await cell.read(path).then(
          ({ content }) => content,
          () => '',
        );
        demand(!seen.includes(canary.text), 'a file outside was read through the link');
        await cell.write(path, 'changed').catch(() => undefined);
      }
      const { output } = await run(cell, 'cat out/canary; echo changed > out/canary');
      demand(!output.includes(canary.text), 'a command read a file outside through the link');
      return 'the link leads nowhere';
    },
    neighbour: stillWorks,
  },
  {
    id: 'public.working-directory',
    title: 'a working directory that the agent chooses (CVE-2026-50548, CVE-2025-59532)',
    expected: 'blocked',
    async attack(runtime, { canary }) {
      const places = [
        '/',
        '/etc',
        '/usr',
        '../../..',
        '/proc/1/cwd',
        '/proc/self/root',
        '/run/workcell',
        canary.directory,
      ];
      for (const cwd of places) {
        const source = `echo x > workcell-abuse && rm workcell-abuse && pwd; cat canary .${canary.path} 2>/dev/null`;
        const { output } = await run(runtime, source, { cwd }).catch(() => ({ output: '' }));
        demand(!output.includes(canary.text), `a file outside was read from ${cwd}`);
        demand(!/^\/(?!workspace)/m.test(output), `${cwd} could be written`);
      }
      return `${places.length} directories, none widened what can be written`;
    },
    neighbour: async (runtime) =>
      void (await permitted(runtime, 'mkdir -p sub && echo x > sub/y', { cwd: '/workspace' })),
  },
  {
    id: 'public.environment',
    title: 'variables that the agent chooses and that loaders, shells and helpers obey',
    expected: 'contained',
    async attack(runtime, { canary }) {
      const marker = `${canary.directory}/ran`;
      const env = {
        LD_PRELOAD: '/workspace/x.so',
        LD_LIBRARY_PATH: '/workspace',
        BASH_ENV: '/workspace/rc',
        ENV: '/workspace/rc',
        PATH: '/workspace:/usr/bin:/bin',
        NODE_OPTIONS: '--require /workspace/x.js',
        PYTHONSTARTUP: '/workspace/x.py',
        PROMPT_COMMAND: `touch ${marker}`,
        IFS: '/',
        SHELLOPTS: 'xtrace',
        TMPDIR: canary.directory,
        HOME: '/',
        WORKCELL_START: '1',
      };
      await runtime.write('rc', `touch ${marker}`);
      await runtime.run('true', { env, timeoutMs: 5000 }).catch(() => undefined);
      await runtime.processes.start(['true'], { env }).catch(() => undefined);
      await runtime.env
        .set({ PROMPT_COMMAND: `touch ${marker}`, TMPDIR: canary.directory })
        .catch(() => undefined);
      await runtime.run('true', { session: 'set', timeoutMs: 5000 }).catch(() => undefined);
      await runtime.env.unset('PROMPT_COMMAND', 'TMPDIR').catch(() => undefined);
      demand((await readdir(canary.directory)).length === 1, 'a variable had an effect on this machine');
      return 'no effect on this side';
    },
    neighbour: stillWorks,
  },
  {
    id: 'public.escape-hatch',
    title: 'an action that asks for less isolation (CVE-2026-42074)',
    expected: 'blocked',
    async attack(runtime) {
      const wishes = [
        { sandbox: false },
        { dangerouslyDisableSandbox: true },
        { network: 'host' },
        { backend: 'cli' },
        { readWrite: ['/'] },
        { limits: {} },
        { user: 'root' },
        { privileged: true },
      ];
      const codes = new Set<string>();
      for (const wish of wishes) {
        codes.add(
          await refusal(
            JSON.stringify(wish),
            runtime.execute({ action: 'run', command: 'true', ...wish } as never),
          ),
        );
        codes.add(
          await refusal(
            JSON.stringify(wish),
            runtime.execute({ action: 'start_process', argv: ['true'], ...wish } as never),
          ),
        );
      }
      return `${wishes.length * 2} wishes, refused with ${[...codes].join(', ')}`;
    },
    neighbour: stillWorks,
  },
  {
    id: 'public.own-program',
    title: 'the program of the first process overwritten through /proc/1/exe (CVE-2019-5736)',
    expected: 'blocked',
    needs: ['python3'],
    async attack(runtime) {
      const outcomes = await python<Record<string, string>>(
        runtime,
        `result = {}
for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
    result[pid] = outcome(lambda: os.close(os.open(f"/proc/{pid}/exe", os.O_WRONLY)))
answer(result)`,
      );
      const opened = Object.values(outcomes).filter((outcome) => outcome === 'ok');
      demand(opened.length === 0, `${opened.length} programs can be written`);
      return `refused with ${[...new Set(Object.values(outcomes))].join(', ')}`;
    },
    neighbour: stillWorks,
  },
  {
    id: 'public.leaked-directory',
    title: 'a working directory in a leaked descriptor (CVE-2024-21626)',
    expected: 'blocked',
    async attack(runtime, { canary }) {
      for (let number = 0; number < 20; number++) {
        const cwd = `/proc/self/fd/${number}`;
        const source = `cat ..${canary.path} ../../../../../..${canary.path} 2>/dev/null`;
        const seen = await run(runtime, source, { cwd }).then(
          ({ output }) => output,
          () => '',
        );
        demand(!seen.includes(canary.text), `descriptor ${number} leads out`);
      }
      const { output } = await run(
        runtime,
        `for f in /proc/1/fd/*; do ( cd $f && cat ../../../../..${canary.path} ); done 2>/dev/null`,
      );
      demand(!output.includes(canary.text), 'a descriptor of the first process leads out');
      return 'none leads out';
    },
    neighbour: stillWorks,
  },
  {
    id: 'public.fail-closed',
    title: 'a start that cannot give what is demanded falls back to nothing less (claude-code #86054)',
    expected: 'blocked',
    async attack(_, tools) {
      return `refused with ${await refusal('the start', tools.cell({ minIsolation: 'vm' }))}`;
    },
    neighbour: async (_, tools) => stillWorks(await tools.cell({ minIsolation: 'namespace' })),
  },
  {
    id: 'public.host-paths',
    title: 'paths of this machine told by variables of the cell',
    expected: 'nothing-leaks',
    async attack(_, tools) {
      const workspace = await mkdtemp(join(tmpdir(), 'workcell-abuse-'));
      tools.finally(() => rm(workspace, { recursive: true, force: true }));
      await writeFile(join(workspace, 'own'), 'x');
      const cell = await tools.cell({ workspace });
      const { output } = await run(
        cell,
        "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'; pwd -P; declare -p",
      );
      demand(!output.includes(workspace), 'the path of the workspace is told');
      demand((await readFile(join(workspace, 'own'), 'utf8')) === 'x', 'the workspace was changed');
      return 'variables and arguments name paths of the cell only';
    },
    neighbour: stillWorks,
  },
];

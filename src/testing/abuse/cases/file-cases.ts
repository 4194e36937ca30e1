/** Paths that lead out, races with links, and things that are no files. */
import type { Runtime } from '../../../index.js';
import { type AbuseCase, demand } from '../case.js';
import { changers, lookers, spellings, tryAll } from '../file-verbs.js';
import { permitted, python, refusal, run, stillWorks } from '../inside.js';

async function fileVerbsWork(runtime: Runtime): Promise<void> {
  await runtime.write('plain', 'content');
  const { content } = await runtime.read('plain');
  if (content !== 'content') throw new Error(`A plain file reads as ${JSON.stringify(content)}.`);
  await runtime.files.remove('plain');
}

export const fileCases: readonly AbuseCase[] = [
  {
    id: '16.paths',
    title: 'paths upwards, absolute, encoded, with backslashes and look-alike characters, in every verb',
    expected: 'blocked',
    async attack(runtime, { canary }) {
      const tried = await tryAll(runtime, spellings(canary.path), canary.text);
      for (const path of ['a\0b', `${canary.path}\0.txt`])
        await refusal('a path with a NUL character', runtime.read(path));
      return `${tried} calls, none reached a file outside`;
    },
    neighbour: fileVerbsWork,
  },
  {
    id: '17.symlinks',
    title: 'links to outside, followed by every verb',
    expected: 'blocked',
    async attack(runtime, { canary }) {
      const links = {
        absolute: canary.path,
        relative: `${'../'.repeat(20)}${canary.path.slice(1)}`,
        magic: `/proc/1/root${canary.path}`,
        own: `/proc/self/root${canary.path}`,
        descriptor: `/proc/1/fd/0`,
      };
      for (const [name, target] of Object.entries(links))
        await permitted(
          runtime,
          `ln -sfn '${target}' ${name}; ln -sfn '${target.replace(/\/[^/]*$/, '')}' ${name}-dir`,
        );
      const paths = Object.keys(links).flatMap((name) => [name, `${name}-dir/canary`]);
      return `${await tryAll(runtime, paths, canary.text)} calls, none reached a file outside`;
    },
    neighbour: async (runtime) => {
      await permitted(runtime, 'echo inside > target && ln -sfn target link');
      if ((await runtime.read('link')).content !== 'inside\n')
        throw new Error('A link to a file inside does not read.');
    },
  },
  {
    id: '17.race',
    title: 'a directory swapped for a link between check and use',
    expected: 'blocked',
    needs: ['python3'],
    async attack(runtime, { canary }) {
      const swapper = `import os, itertools, shutil
os.makedirs("real", exist_ok=True); open("real/canary", "w").write("inside")
targets = [${[canary.directory, `${'../'.repeat(20)}${canary.directory.slice(1)}`, `/proc/1/root${canary.directory}`].map((target) => JSON.stringify(target)).join(', ')}]
print("ready", flush=True)
for target in itertools.cycle(targets):
    try:
        os.symlink(target, "swap"); os.unlink("swap")
        os.rename("real", "swap"); os.rename("swap", "real")
    except OSError:
        # A write verb made the directory meanwhile.
        shutil.rmtree("swap", ignore_errors=True); os.makedirs("real", exist_ok=True)`;
      const { id } = await runtime.processes.start(['python3', '-c', swapper], { timeoutMs: 60_000 });
      const ended = performance.now() + 4000;
      let tried = 0;
      let reached = 0;
      while (performance.now() < ended) {
        for (const verb of [lookers.read, lookers.download, lookers.copy]) {
          const seen = await verb?.(runtime, 'swap/canary').then(
            (value) => JSON.stringify(value) ?? '',
            () => '',
          );
          demand(!seen?.includes(canary.text), 'a read followed the swapped link to outside');
          if (seen !== '') reached++;
          tried++;
        }
        for (const verb of [changers.write, changers.append, changers.upload])
          await verb?.(runtime, 'swap/canary').catch(() => undefined);
      }
      const { running } = await runtime.processes.get(id);
      await runtime.processes.signal(id, 'SIGKILL');
      demand(running, 'the process that swaps did not last');
      return `${tried} reads in the race, ${reached} met the directory, none left the cell`;
    },
    neighbour: fileVerbsWork,
  },
  {
    id: '20.directory-swap',
    title: 'a parent directory renamed to strip a protection',
    expected: 'blocked',
    needs: ['python3'],
    async attack(runtime) {
      const outcomes = await python<Record<string, string>>(
        runtime,
        `paths = ["/etc", "/usr", "/run", "/run/workcell", "/proc/sys", "/dev", "/usr/bin", "/etc/passwd", "/home/agent", "/workspace", "/tmp"]
answer({path: outcome(lambda: os.rename(path, path + ".moved")) for path in paths if os.path.exists(path)})`,
      );
      const moved = Object.entries(outcomes).filter(([, outcome]) => outcome === 'ok');
      demand(moved.length === 0, `renamed: ${moved.map(([path]) => path).join(', ')}`);
      return `${Object.keys(outcomes).length} tried, all refused`;
    },
    neighbour: async (runtime) => void (await permitted(runtime, 'mkdir one && mv one two && rmdir two')),
  },
  {
    id: '21.new-names',
    title: 'names of the system that do not exist yet and that others would obey',
    expected: 'blocked',
    needs: ['python3'],
    async attack(runtime) {
      const outcomes = await python<Record<string, string>>(
        runtime,
        `paths = ["/etc/ld.so.preload", "/etc/profile.d/x.sh", "/etc/gitconfig", "/etc/bash.bashrc.d", "/usr/local/bin/git", "/usr/bin/bash.new", "/usr/lib/python3/dist-packages/sitecustomize.py", "/run/workcell/0", "/.dockerenv", "/root", "/sbin/new", "/dev/new", "/opt/new"]
answer({path: outcome(lambda: os.close(os.open(path, os.O_CREAT | os.O_WRONLY))) for path in paths})`,
      );
      const made = Object.entries(outcomes).filter(([, outcome]) => outcome === 'ok');
      demand(made.length === 0, `made: ${made.map(([path]) => path).join(', ')}`);
      return `${Object.keys(outcomes).length} tried, all refused`;
    },
    neighbour: async (runtime) => void (await permitted(runtime, 'echo x > ~/.profile && echo x > /tmp/new')),
  },
  {
    id: '21.workspace-names',
    title: 'hooks and settings in the workspace that tools outside would obey',
    expected: 'blocked',
    unclaimed: () =>
      "a workspace is the agent’s to change, and no names in it are protected; with mode 'overlay' or 'copy' your directory stays as it is until you apply the changes",
    async attack(runtime) {
      const { output } = await run(
        runtime,
        'for n in .git/hooks/pre-commit .vscode/tasks.json .claude/settings.json .envrc; do mkdir -p "$(dirname $n)"; echo x > $n && echo $n; done',
      );
      demand(output === '', `made: ${output.trim().split('\n').join(', ')}`);
      return 'all refused';
    },
    neighbour: stillWorks,
  },
  {
    id: '23.no-files',
    title: 'FIFOs, sockets and devices in the place of files',
    expected: 'bounded',
    needs: ['python3'],
    async attack(runtime) {
      await permitted(
        runtime,
        'mkfifo fifo; python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\'socket\')"; ln -s /dev/zero zero; ln -s /dev/console console',
      );
      const started = performance.now();
      const paths = [
        'fifo',
        'socket',
        'zero',
        'console',
        '/dev/zero',
        '/dev/random',
        '/dev/tty',
        '/dev/full',
      ];
      for (const path of paths) {
        await refusal(`read of ${path}`, runtime.read(path));
        await refusal(
          `download of ${path}`,
          runtime.files.download(path).then(async ({ content }) => {
            for await (const _ of content) break;
          }),
        );
        await refusal(`edit of ${path}`, runtime.edit(path, { insertLine: 0, newText: 'x' }));
      }
      await runtime.files.grep('x');
      const elapsedMs = Math.round(performance.now() - started);
      demand(elapsedMs < 10_000, `it took ${elapsedMs} ms`);
      return `${paths.length * 3} calls answered in ${elapsedMs} ms`;
    },
    neighbour: fileVerbsWork,
  },
  {
    id: '24.proc-verbs',
    title: 'the process file system, reached by file verbs under all its names',
    expected: 'blocked',
    async attack(runtime) {
      await permitted(runtime, 'ln -s /proc p; ln -s /proc/sys/kernel/hostname name');
      const paths = [
        '/proc/1/environ',
        '/proc/self/environ',
        '/proc/1/root/etc/passwd',
        '/proc/1/cwd',
        '/proc/1/fd/0',
        '/proc/1/mem',
        '/proc/kallsyms',
        'p/1/environ',
        'name',
        '/proc/sys/kernel/hostname',
        '/dev/fd/0',
        '/dev/stdin',
      ];
      const codes = new Set<string>();
      for (const path of paths) codes.add(await refusal(`read of ${path}`, runtime.read(path)));
      return `${paths.length} paths, refused with ${[...codes].join(', ')}`;
    },
    neighbour: async (runtime) =>
      void (await permitted(runtime, 'cat /proc/self/status /proc/cpuinfo >/dev/null')),
  },
  {
    id: '24.proc-inside',
    title: 'roots, directories and descriptors of the first process, from inside',
    expected: 'blocked',
    async attack(runtime, { canary }) {
      const { output } = await run(
        runtime,
        `for p in /proc/[0-9]*; do for l in root cwd; do cat $p/$l${canary.path} 2>/dev/null; done; for f in $p/fd/*; do readlink $f; cat $f/..${canary.path} 2>/dev/null; done; done`,
        { timeoutMs: 10_000, env: { LC_ALL: 'C' } },
      );
      demand(!output.includes(canary.text), 'a file outside was read through a descriptor or root');
      const strange = output
        .split('\n')
        .filter(
          (line) => line.startsWith('/') && !/^\/(dev(?!\/shm)|proc|workspace|run\/workcell)/.test(line),
        )
        // Containers keep the channels of their shells there, and have a separate one.
        .filter((line) => runtime.isolation.tier === 'namespace' || !line.startsWith('/dev/shm/'));
      demand(strange.length === 0, `descriptors lead to ${strange.join(', ')}`);
      return 'none leads out';
    },
    neighbour: stillWorks,
  },
  {
    id: '29.helper-files',
    title: 'files of the cell’s own helpers overwritten by uploads and commands',
    expected: 'blocked',
    async attack(runtime) {
      const paths = [
        '/run/workcell/1',
        '/run/workcell/new',
        '/usr/bin/bash',
        '/bin/sh',
        '/etc/passwd',
        '/usr/bin/env',
      ];
      for (const path of paths) {
        await refusal(`upload over ${path}`, runtime.files.upload(Buffer.from('x'), path));
        await refusal(`write over ${path}`, runtime.write(path, 'x'));
        await refusal(`removal of ${path}`, runtime.files.remove(path));
        const { exitCode } = await run(runtime, `echo x > ${path}`);
        demand(exitCode !== 0, `${path} was overwritten by a command`);
      }
      return `${paths.length * 4} tries, all refused`;
    },
    neighbour: stillWorks,
  },
];

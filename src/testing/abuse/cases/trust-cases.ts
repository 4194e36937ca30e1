/** What must stay on this side: secrets, configuration that runs code, and everything after the end of a cell. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime } from '../../../index.js';
import { WorkcellError } from '../../../protocol/index.js';
import { type AbuseCase, demand } from '../case.js';
import { permitted, run, stillWorks } from '../inside.js';

/** Files that run code in the tools that read them. `touch` marks that one did. */
function hostileConfiguration(marker: string): Record<string, string> {
  const touch = `touch ${marker}`;
  return {
    '.git/config': `[core]\n\tfsmonitor = "${touch}"\n\tsshCommand = "${touch}"\n\thooksPath = .git/hooks\n\tpager = "${touch}"\n[diff]\n\texternal = "${touch}"\n[filter "x"]\n\tclean = "${touch}"\n\tsmudge = "${touch}"\n`,
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/objects/info/none': '',
    '.git/refs/none': '',
    '.git/hooks/pre-commit': `#!/bin/sh\n${touch}\n`,
    '.git/hooks/post-checkout': `#!/bin/sh\n${touch}\n`,
    '.gitattributes': '* filter=x diff=x\n',
    '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c ${touch}\n`,
    '.envrc': `${touch}\n`,
    '.npmrc': `script-shell=${touch}\n`,
    '.yarnrc': `yarn-path "./evil.js"\n`,
    'evil.js': `require('child_process').execSync('${touch}')\n`,
    'package.json': `{"scripts":{"preinstall":"${touch}","prepare":"${touch}"}}\n`,
    'sitecustomize.py': `import os; os.system('${touch}')\n`,
    'conftest.py': `import os; os.system('${touch}')\n`,
    '.cargo/config.toml': `[build]\nrustc-wrapper = "${touch}"\n`,
    '.vscode/tasks.json': `{"tasks":[{"command":"${touch}","runOptions":{"runOn":"folderOpen"}}]}\n`,
    '.bashrc': `${touch}\n`,
    '.inputrc': '"x": "y"\n',
    '.ripgreprc': `--pre=${touch}\n`,
    'workcell.toml': 'backend = "cli"\n',
  };
}

/** What this process owns in the system on behalf of its cells. */
function belongings(): Record<string, number> {
  const own = new RegExp(`^workcell-\\d+-\\d+-${process.pid}-`);
  const scratch = `${tmpdir()}/workcell-${process.geteuid?.()}`;
  const groups = readdirIfPresent('/sys/fs/cgroup').flatMap((controller) =>
    readdirIfPresent(`/sys/fs/cgroup/${controller}`).filter((name) => own.test(name)),
  );
  const threads = readdirSync('/proc/self/task');
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    processes: threads.flatMap((thread) =>
      readFileSync(`/proc/self/task/${thread}/children`, 'latin1').split(' ').filter(Boolean),
    ).length,
    mounts: readFileSync('/proc/self/mountinfo', 'latin1')
      .split('\n')
      .filter((line) => line.includes(`-${process.pid}-`)).length,
    groups: groups.length,
    files: readdirIfPresent(scratch)
      .filter((name) => own.test(name))
      .flatMap((name) => readdirSync(`${scratch}/${name}`))
      .filter((name) => !name.startsWith('etc')).length,
  };
}

/** What each descriptor of this process leads to. */
function openDescriptors(): Map<string, string> {
  return new Map(
    readdirSync('/proc/self/fd').map((number) => {
      try {
        return [number, readlinkSync(`/proc/self/fd/${number}`)];
      } catch {
        return [number, 'closed'];
      }
    }),
  );
}

function newDescriptors(before: ReadonlyMap<string, string>): string {
  const fresh = [...openDescriptors()].filter(([number, target]) => before.get(number) !== target);
  return fresh.map(([, target]) => target).join(', ');
}

function readdirIfPresent(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** The command lines of every visible process of this machine. */
function allArguments(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
      } catch {
        return '';
      }
    })
    .join('\n');
}

/** By their names alone: not every kernel tells more of them. */
const listDescriptors = `import os
def target(number):
    try: return os.readlink("/proc/self/fd/" + number)
    except OSError: return "itself"
for number in os.listdir("/proc/self/fd"): print(number, target(number))`;

/** Its own three, the one it looks with, and such as lead to nothing. */
function expectOwn(listing: string, who: string): void {
  const open = listing.trim().split('\n');
  const strange = open.filter((line) => !/^([0-3] |\d+ \/dev\/null$)/.test(line));
  demand(
    open.length >= 4 && strange.length === 0,
    `${who} starts with descriptors ${strange.join(', ') || open.join(', ')}`,
  );
}

export const trustCases: readonly AbuseCase[] = [
  {
    id: '76.project-file',
    title: 'a workcell.toml with a plugin that the cell wrote, met by the next start',
    expected: 'blocked',
    async attack(_, tools) {
      const workspace = mkdtempSync(join(tmpdir(), 'workcell-abuse-'));
      tools.finally(() => rmSync(workspace, { recursive: true, force: true }));
      const cell = await tools.cell({ workspace });
      const mark = join(tools.canary.directory, 'loaded');
      await cell.write(
        'evil.mjs',
        `import fs from 'node:fs'; fs.writeFileSync(${JSON.stringify(mark)}, '');`,
      );
      await cell.write('workcell.toml', 'backend = "cli"\nplugins = ["./evil.mjs"]\n');
      const before = process.cwd();
      process.chdir(workspace);
      const met = await createRuntime().catch((error: unknown) => error);
      process.chdir(before);
      if (!(met instanceof Error)) await (met as Awaited<ReturnType<typeof createRuntime>>).close();
      demand(!existsSync(mark), 'code of the workspace ran on this side');
      demand(
        WorkcellError.isInstance(met) && met.code === 'config-untrusted',
        `the start was not refused: ${String(met)}`,
      );
      return 'the start is refused until somebody trusts the file';
    },
    neighbour: stillWorks,
  },
  {
    id: '5.inherited',
    title: 'descriptors that this process has open, looked for in the cell',
    expected: 'nothing-leaks',
    needs: ['python3'],
    async attack(runtime, { canary }) {
      const { openSync, closeSync } = await import('node:fs');
      const descriptor = openSync(canary.path, 'r');
      try {
        await runtime.write('descriptors.py', listDescriptors);
        const { output } = await run(
          runtime,
          'for f in /proc/[0-9]*/fd/*; do readlink $f; done; echo own:; python3 descriptors.py',
          { session: 'fresh' },
        );
        demand(!output.includes('canary'), 'a descriptor of this process is open in the cell');
        expectOwn(output.split('own:\n').at(-1) ?? '', 'a program in a shell');
        const { id } = await runtime.processes.start(['python3', 'descriptors.py']);
        expectOwn((await runtime.processes.wait(id)).stdout, 'a program');
        return 'a program starts with its three';
      } finally {
        closeSync(descriptor);
      }
    },
    neighbour: stillWorks,
  },
  {
    id: '60.caller-environment',
    title: 'variables and arguments of this process, looked for in the cell',
    expected: 'nothing-leaks',
    async attack(_, tools) {
      const secret = randomBytes(16).toString('hex');
      process.env.WORKCELL_ABUSE_SECRET = secret;
      tools.finally(() => {
        delete process.env.WORKCELL_ABUSE_SECRET;
      });
      const cell = await tools.cell();
      const script = process.argv[1] ?? 'no-script';
      // A cell has a home of its own, which may be called like that of the caller.
      const own = await permitted(cell, 'echo "$HOME" "$PWD"');
      const words = [secret, script, process.cwd()].filter((word) => !own.includes(word));
      // Written as a file, so that the search does not find its own arguments.
      await cell.write('words', words.join('\n'));
      const found = await run(
        cell,
        "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -cFf words; grep -rlFf words /etc /run /home /dev/shm /var 2>/dev/null",
      );
      demand(found.output.trim() === '0', `found: ${found.output.trim()}`);
      const names = (await permitted(cell, 'compgen -e')).trim().split('\n');
      const strange = names.filter(
        (name) =>
          name in process.env &&
          process.env[name] !== undefined &&
          /KEY|TOKEN|SECRET|PASS|NODE|NPM|SSH|AWS|GIT_A/i.test(name),
      );
      demand(strange.length === 0, `variables of the caller: ${strange.join(', ')}`);
      return `${names.length} variables, none from here`;
    },
    neighbour: stillWorks,
  },
  {
    id: '60.given-secrets',
    title: 'values given to a cell, looked for in the arguments of processes of this machine',
    expected: 'nothing-leaks',
    async attack(_, tools) {
      const [ofCell, ofCommand, later] = [0, 1, 2].map(() => randomBytes(16).toString('hex')) as [
        string,
        string,
        string,
      ];
      const cell = await tools.cell({ env: { SECRET_OF_CELL: ofCell } });
      const { id } = await cell.processes.start(['sleep', '100'], { env: { SECRET_OF_COMMAND: ofCommand } });
      await cell.env.set({ SECRET_LATER: later });
      await permitted(cell, 'test -n "$SECRET_LATER" && test -n "$SECRET_OF_CELL"');
      const shown = allArguments();
      await cell.processes.signal(id, 'SIGKILL');
      const leaked = Object.entries({ ofCell, ofCommand, later }).filter(([, value]) =>
        shown.includes(value),
      );
      demand(leaked.length === 0, `seen in a list of processes: ${leaked.map(([name]) => name).join(', ')}`);
      return 'no argument carries them';
    },
    neighbour: stillWorks,
  },
  {
    id: '60.core-files',
    title: 'a crash that would leave its memory in a file',
    expected: 'nothing-leaks',
    async attack(runtime) {
      await run(runtime, "ulimit -c unlimited 2>/dev/null; bash -c 'kill -SEGV $$'; bash -c 'kill -ABRT $$'");
      const { output } = await run(
        runtime,
        'ulimit -c; find / -xdev -name "core*" -newer /etc/hostname -type f -size +100k 2>/dev/null; ls',
      );
      demand(output.startsWith('0\n'), `core files may have ${output.split('\n')[0]} blocks`);
      demand(!/core/.test(output.slice(2)), `a core file is there: ${output}`);
      return 'no core file, and the limit cannot be raised';
    },
    neighbour: stillWorks,
  },
  {
    id: '63.configuration',
    title: 'hostile git, npm, Python, Cargo, shell and editor configuration in the workspace (63, 64)',
    expected: 'blocked',
    async attack(runtime, { canary }) {
      const marker = `${canary.directory}/ran`;
      const files = hostileConfiguration(marker);
      await permitted(runtime, `mkdir -p ${canary.directory}`);
      for (const [path, content] of Object.entries(files))
        await runtime.write(path, content, { mode: 0o755 });
      await runtime.files.list('.', { depth: 8 });
      await runtime.files.glob('**/*', { hidden: true });
      await runtime.files.grep('touch', { hidden: true, ignored: true });
      await runtime.edit('package.json', { oldText: 'prepare', newText: 'prepared' });
      await runtime.files.copy('.git', 'copied');
      await runtime.files.move('copied', 'moved');
      const { content } = await runtime.files.download('.', { format: 'tar' });
      for await (const _ of content);
      await runtime.stats();
      for (const look of ['status', 'changes', 'diff', 'log', 'branch', 'branches'] as const)
        await runtime.git[look]().catch(() => undefined);
      await runtime.microagents.load({ user: false, organisation: false });
      await run(runtime, 'cd .git && cd ..', { session: 'new-shell' });
      demand(!existsSync(marker), 'a file of the workspace ran code on this machine');
      const { output } = await run(runtime, `ls ${marker} 2>/dev/null`);
      demand(output === '', 'a file of the workspace ran code without being asked for');
      return `${Object.keys(files).length} files, none of them was obeyed`;
    },
    neighbour: stillWorks,
  },
  {
    id: '70.teardown',
    title: 'cells closed in the middle of hostile work',
    expected: 'nothing-leaks',
    async attack(_, tools) {
      const cycle = async () => {
        const cell = await tools.cell();
        await run(
          cell,
          'for i in 1 2 3; do ( setsid bash -c \'trap "" TERM HUP; while :; do sleep 1; done\' & ); done; mkfifo p; echo x > /tmp/x',
        );
        await cell.processes.start(['sleep', '1000']);
        const pending = cell.run('sleep 1000', { session: 'second' }).catch(() => undefined);
        const terminal = await cell.terminals.open();
        await cell.close();
        await pending;
        await terminal.close().catch(() => undefined);
      };
      await cycle();
      const before = belongings();
      const descriptorsBefore = openDescriptors();
      for (let round = 0; round < 5; round++) await cycle();
      const settled = performance.now() + 5000;
      let left: string[];
      do {
        await new Promise((resolve) => setTimeout(resolve, 50));
        const after = belongings();
        left = Object.keys(before)
          // Something that opens once, on first use, is no leak: a leak would grow with every cell.
          .filter((kind) => (after[kind] ?? 0) - (before[kind] ?? 0) >= (kind === 'descriptors' ? 5 : 1))
          .map((kind) => `${(after[kind] ?? 0) - (before[kind] ?? 0)} ${kind}`);
      } while (left.length > 0 && performance.now() < settled);
      demand(
        left.length === 0,
        `left after 5 cells: ${left.join(', ')} (${newDescriptors(descriptorsBefore)})`,
      );
      return `5 cells left no ${Object.keys(before).join(', ')}`;
    },
    neighbour: stillWorks,
  },
];

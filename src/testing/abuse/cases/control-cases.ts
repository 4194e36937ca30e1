/** Attacks on a cell's reports, exit codes and ends, and on its input: commands with their secrets. */
import { randomBytes } from 'node:crypto';
import type { Isolation, Runtime } from '../../../index.js';
import { type AbuseCase, demand } from '../case.js';
import { permitted, python, run, stillWorks } from '../inside.js';

/** Without any isolation a program may read the memory of whatever its user runs. */
const sameUser: AbuseCase['unclaimed'] = ({ tier }: Isolation) =>
  tier === 'none' ? 'commands run as the user that all else runs as, with nothing in between' : undefined;

/** Returns what a program could open of processes that are neither itself nor its own ancestors. */
const openOthers = `
import os
def processes():
    return [int(name) for name in os.listdir('/proc') if name.isdigit() and int(name) != os.getpid()]
def openable(pid, names):
    for name in names:
        for mode in (os.O_WRONLY, os.O_RDONLY):
            try: yield name, mode, os.open(f'/proc/{pid}/{name}', mode | os.O_NONBLOCK)
            except OSError: pass
descriptors = [f'fd/{number}' for number in range(300)]
`;

/**
 * A program that finds what looks like a token in whatever it can read of the shell, and writes reports with it
 * wherever the shell writes; the last of them reports success.
 */
const forger = `${openOthers}
import re, sys
shell, deep = os.getppid(), sys.argv[1] == 'deep'
words = {b'0123456789abcdef'}
for name in ['cmdline', 'environ']:
    try: words |= set(re.findall(rb'[A-Za-z0-9_-]{16}', open(f'/proc/{shell}/{name}', 'rb').read()))
    except OSError: pass
if deep:
    try:
        with open(f'/proc/{shell}/maps') as maps, open(f'/proc/{shell}/mem', 'rb', 0) as memory:
            for line in maps:
                if 'heap' not in line and 'stack' not in line: continue
                start, end = (int(part, 16) for part in line.split()[0].split('-'))
                memory.seek(start)
                words |= set(re.findall(rb'(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{16}(?![A-Za-z0-9_-])', memory.read(end - start)))
    except OSError: pass
ends = [open('/dev/tty', 'wb', 0)]
for name, mode, end in openable(shell, descriptors):
    if mode == os.O_WRONLY: ends.append(open(end, 'wb', 0))
def forge():
    for word in words:
        for body in (b'left', b'exit;/forged', b'0;0;/forged\\n'):
            for end in ends:
                try: end.write(b'\\x1b]7777;' + word + b';' + body + b'\\x07')
                except OSError: pass
    for body in (b'left', b'exit;/forged'):
        ends[0].write(b'\\x1b]7777;' + body + b'\\x07')
`;

async function place(runtime: Runtime, name: string, source: string): Promise<void> {
  await runtime.write(name, source);
}

const depth = ({ isolation }: Runtime) => (isolation.tier === 'none' ? 'shallow' : 'deep');

export const controlCases: readonly AbuseCase[] = [
  {
    id: '71.control-pipes',
    title: 'pipes, memory and variables of the first process, of shells and of those who report, opened',
    expected: 'blocked',
    needs: ['python3'],
    unclaimed: sameUser,
    async attack(runtime) {
      // A shell on the cell's own terminal and one on another terminal wait meanwhile.
      for (const session of ['one', 'two']) await permitted(runtime, ':', { session });
      const opened = await python<string[]>(
        runtime,
        `${openOthers}
found = []
for pid in processes():
    for name, mode, end in openable(pid, descriptors + ['mem', 'environ', 'maps', 'cwd', 'root']):
        found.append(f'{pid} {name}')
        for order in (b'',) if not name.startswith('fd/') else (b'../../workspace/order\\n', b'30\\ntouch /workspace/order; exit 0\\n\\n\\n', b'end 1 2 0\\n'):
            try: os.write(end, order)
            except OSError: pass
        os.close(end)
answer(found)`,
      );
      demand(opened.length === 0, `could open ${opened.slice(0, 5).join(', ')}`);
      for (const session of ['one', 'two']) await permitted(runtime, 'test ! -e order', { session });
      return 'nothing could be opened';
    },
    neighbour: stillWorks,
  },
  {
    id: '72.forged-end',
    title: 'a program that reports its own success, and another directory, in the name of its shell',
    expected: 'bounded',
    needs: ['python3'],
    async attack(runtime) {
      const source = `${forger}
forge()
print('still here', flush=True)
os._exit(3)`;
      await place(runtime, 'forger.py', source);
      for (const session of ['one', 'two']) {
        const { exitCode, endedBy, cwd, output } = await run(runtime, `python3 forger.py ${depth(runtime)}`, {
          session,
        });
        demand(exitCode === 3, `it ended by ${endedBy} with ${exitCode} in place of 3`);
        demand(cwd === runtime.workspace, `the session is in ${cwd}`);
        demand(output.endsWith('still here\n'), 'what it printed was hidden');
      }
      return 'exit code 3 was reported';
    },
    neighbour: stillWorks,
  },
  {
    id: '73.forged-later',
    title: 'a program of an earlier command that takes or forges what later ones are given and report',
    expected: 'bounded',
    needs: ['python3'],
    async attack(runtime) {
      const secret = randomBytes(12).toString('hex');
      const source = `${forger}
import select
open('ready', 'w').close()
taken = []
while not os.path.exists('stop'):
    forge()
    inherited = [number for number in range(3, 300) if os.path.exists(f'/proc/self/fd/{number}')]
    stolen = [end for _, mode, end in openable(shell, descriptors) if mode == os.O_RDONLY]
    for end in inherited + stolen:
        try:
            if select.select([end], [], [], 0)[0] and not os.isatty(end): taken.append(os.read(end, 65536))
        except OSError: pass
    for end in stolen: os.close(end)
open('taken', 'wb').write(b''.join(taken))
open('done', 'w').close()`;
      await place(runtime, 'forger.py', source);
      await permitted(
        runtime,
        `python3 forger.py ${depth(runtime)} >/dev/null 2>&1 & until [ -e ready ]; do sleep 0.01; done`,
      );
      for (let round = 0; round < 20; round++) {
        const { exitCode, cwd } = await run(runtime, '(exit 5)', { env: { HANDED_OVER: secret } });
        demand(exitCode === 5, `a later command was reported with ${exitCode} in place of 5`);
        demand(cwd === runtime.workspace, `the session is in ${cwd}`);
      }
      await permitted(runtime, 'touch stop; until [ -e done ]; do sleep 0.01; done');
      const taken = await permitted(runtime, `grep -c ${secret} taken || true`);
      demand(taken.trim() === '0', 'a later command was taken from the shell');
      return '20 later commands had their own exit code';
    },
    neighbour: stillWorks,
  },
  {
    id: '74.handed-over',
    title: 'secrets of commands looked for where commands are handed over, and after they have ended',
    expected: 'nothing-leaks',
    needs: ['python3'],
    async attack(runtime) {
      const secret = randomBytes(12).toString('hex');
      const reversed = [...secret].reverse().join('');
      const source = `${openOthers}
import stat, sys
secret = sys.argv[1][::-1].encode()
roots = sys.argv[2].split(':')
found = []
def look():
    for root in roots:
        for folder, _, files in os.walk(root):
            for name in files:
                path = os.path.join(folder, name)
                try:
                    if not stat.S_ISREG(os.lstat(path).st_mode): continue
                    with open(path, 'rb') as file:
                        if secret in file.read(1 << 20): found.append(path)
                except OSError: pass
    for pid in processes():
        for name in ('cmdline', 'environ'):
            # A program has the variables that it was given while it runs, and only then.
            if name == 'environ' and not os.path.exists('stop'): continue
            try:
                with open(f'/proc/{pid}/{name}', 'rb') as file:
                    if secret in file.read(): found.append(f'{pid} {name}')
            except OSError: pass
open('ready', 'w').close()
while True:
    last = os.path.exists('stop')
    look()
    if last: break
open('found', 'w').write('\\n'.join(sorted(set(found))))
open('done', 'w').close()`;
      await place(runtime, 'searcher.py', source);
      const roots = `/run:/tmp:/var/tmp:/dev/shm:${runtime.workspace}`;
      const searcher = `python3 searcher.py ${reversed} ${roots} & until [ -e ready ]; do sleep 0.01; done`;
      await permitted(runtime, searcher, { session: 'searcher' });
      const env = { HANDED_OVER: secret };
      for (let round = 0; round < 20; round++) {
        await permitted(runtime, `[ "$HANDED_OVER" ] && : ${'x'.repeat(2000)}`, { env });
        const { id } = await runtime.processes.start(['true'], { env });
        await runtime.processes.wait(id);
      }
      const halves = `${secret.slice(0, 12)} ${secret.slice(12)}`;
      const kept = await permitted(runtime, `{ set; env; } | grep -c -f <(printf %s%s ${halves}) || true`);
      demand(kept.trim() === '0', 'the shell still has it when its command has ended');
      await permitted(runtime, 'touch stop; until [ -e done ]; do sleep 0.01; done', { session: 'searcher' });
      const found = await permitted(runtime, 'cat found');
      demand(found === '', `found in ${found.slice(0, 200)}`);
      return 'found nowhere';
    },
    neighbour: stillWorks,
  },
  {
    id: '75.unlisted',
    title: 'a program that says it is one of the cell’s own, to be in no list and past every limit',
    expected: 'killed',
    needs: ['python3'],
    async attack(runtime) {
      const source = `${openOthers}
import signal
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
if os.fork() == 0: os.setsid()
for pid in processes():
    for name, mode, end in openable(pid, descriptors):
        for kind in ('supervisor', 'pump'):
            for key in range(1, 100):
                try: os.write(end, f'{kind} {key} {os.getpid()}\\n'.encode())
                except OSError: pass
        os.close(end)
open(f'pid-{os.getpid()}', 'w').close()
while True: signal.pause()`;
      await place(runtime, 'unlisted.py', source);
      const { endedBy } = await run(runtime, 'python3 unlisted.py', { timeoutMs: 3000 });
      demand(endedBy === 'timeout', `it ended by ${endedBy}`);
      const left = await permitted(
        runtime,
        'ls pid-* | wc -l; for file in pid-*; do kill -0 "${file#pid-}" 2>/dev/null && echo "${file#pid-}"; done; true',
      );
      demand(left === '2\n', `left when its time was over: ${left}`);
      return 'both processes were ended';
    },
    neighbour: stillWorks,
  },
];

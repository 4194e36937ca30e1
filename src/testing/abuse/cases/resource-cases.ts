/** Memory, disk, processors and descriptors without end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Isolation, type Runtime, WorkcellError } from '../../../index.js';
import { isEnforced } from '../../../protocol/index.js';
import { attackLimits } from '../attack-limits.js';
import { type AbuseCase, demand, endsWith, type Tools } from '../case.js';
import { finish, permitted, python, run, stillWorks } from '../inside.js';

const noGroup = (limit: 'memory' | 'processors', effect: string) => (isolation: Isolation) =>
  isEnforced(isolation, limit)
    ? limit === 'memory'
      ? endsWith(isolation, limit)
      : undefined
    : `no control group can be made here, so ${effect}`;

const withMemory: AbuseCase['unclaimed'] = (isolation) => endsWith(isolation, 'memory');

/** Writes to a scratch directory until the cell refuses, at most `megabytes`. Returns how many went in. */
async function fill(runtime: Runtime, path: string, megabytes: number): Promise<number> {
  const source = `dd if=/dev/zero of=${path} bs=1M count=${megabytes} 2>/dev/null; wc -c <${path}; rm -f ${path}`;
  const { stdout } = await finish(runtime, ['bash', '-c', source]);
  return Math.round(Number(stdout) / 1024 / 1024);
}

const limitedMegabytes = 8;
const limitedNames = 200;
const notLimited = 'such a cell does not start: nothing limits the size of a workspace there';

function isUnsupported(error: unknown): boolean {
  return WorkcellError.isInstance(error) && error.code === 'capability-unsupported';
}

function limitedCell(tools: Tools, mode: 'overlay' | 'copy' | 'empty'): Promise<Runtime> {
  const size = { bytes: limitedMegabytes * 1024 * 1024, files: limitedNames };
  if (mode === 'empty') return tools.cell({ workspace: { mode, size } });
  const from = mkdtempSync(join(tmpdir(), 'workcell-limited-'));
  tools.finally(() => rmSync(from, { recursive: true, force: true }));
  return tools.cell({ workspace: { from, mode, size } });
}

/** Processes that share their pages take them once, however many they are. */
async function shareMemory(runtime: Runtime): Promise<void> {
  const alive = await python<number>(
    runtime,
    `import signal, time
block = b"x" * (20 << 20)
children = []
for _ in range(40):
    child = os.fork()
    if child == 0:
        time.sleep(1000)
    children.append(child)
time.sleep(1)
alive = sum(1 for child in children if os.waitpid(child, os.WNOHANG)[0] == 0)
for child in children: os.kill(child, signal.SIGKILL)
answer(alive)`,
  );
  if (alive !== 40) throw new Error(`${40 - alive} of 40 processes that share 20 MiB were killed.`);
}

const memoryMegabytes = attackLimits.memoryBytes / 1024 / 1024;
const diskMegabytes = attackLimits.diskBytes / 1024 / 1024;

export const resourceCases: readonly AbuseCase[] = [
  {
    id: '2.memory',
    title: 'a process that touches page after page',
    expected: 'killed',
    needs: ['python3'],
    unclaimed: withMemory,
    async attack(runtime) {
      const source = `blocks = []\nfor _ in range(${memoryMegabytes * 4}): blocks.append(bytearray(1 << 20))\nprint("all of it")`;
      const { stdout, endedBy, exitCode } = await finish(runtime, ['python3', '-c', source]);
      demand(!stdout.includes('all of it'), 'four times the limit was given to it');
      return `ended by ${endedBy}${exitCode === null ? '' : ` ${exitCode}`}`;
    },
    neighbour: stillWorks,
  },
  {
    id: '2.told-apart',
    title: 'running out of memory in a shell is told apart from other ends',
    expected: 'bounded',
    needs: ['python3'],
    unclaimed: noGroup('memory', 'a process is refused memory and fails as it likes'),
    async attack(runtime) {
      const touch = `python3 -c 'import mmap; m = mmap.mmap(-1, ${memoryMegabytes * 4} << 20); [m.write(b"x" * 4096) for _ in range(${memoryMegabytes * 4} << 8)]'`;
      const { endedBy } = await run(runtime, touch);
      demand(endedBy === 'oom', `it ended by ${endedBy}, not oom`);
      return 'ended by oom';
    },
    neighbour: stillWorks,
  },
  {
    id: '2.many-processes',
    title: 'many small processes that take memory together',
    expected: 'killed',
    needs: ['python3'],
    unclaimed: withMemory,
    async attack(runtime) {
      const held = await python<number>(
        runtime,
        `import mmap, re, signal, time
def held(pid):
    try: text = open(f"/proc/{pid}/status").read()
    except OSError: return 0
    return sum(int(size) for size in re.findall(r"RssShmem:\\s+(\\d+)", text))
children = []
for _ in range(40):
    child = os.fork()
    if child == 0:
        block = mmap.mmap(-1, 20 << 20)
        for _ in range(20): block.write(b"x" * (1 << 20))
        time.sleep(1000)
    children.append(child)
total, before = 0, -1
while total != before:
    time.sleep(1)
    before, total = total, sum(held(child) for child in children)
for child in children:
    try: os.kill(child, signal.SIGKILL)
    except OSError: pass
answer(total >> 10)`,
      ).catch(() => 0);
      demand(held <= memoryMegabytes, `${held} MiB were held, ${memoryMegabytes} are allowed`);
      return `${held} MiB were held together`;
    },
    neighbour: shareMemory,
  },
  {
    id: '2.tmpfs',
    title: 'memory taken through /tmp and /dev/shm',
    expected: 'blocked',
    async attack(runtime) {
      const inTmp = await fill(runtime, '/tmp/hog', memoryMegabytes * 2);
      const inShm = await fill(runtime, '/dev/shm/hog', memoryMegabytes * 2);
      demand(inTmp <= diskMegabytes && inShm <= diskMegabytes, `${inTmp} and ${inShm} MiB went in`);
      return `full after ${inTmp} and ${inShm} MiB`;
    },
    neighbour: stillWorks,
  },
  {
    id: '2.page-cache',
    title: 'memory taken through the page cache of large files',
    expected: 'contained',
    async attack(runtime) {
      const command = `dd if=/dev/zero of=big bs=1M count=${memoryMegabytes * 2} 2>/dev/null && cat big big >/dev/null; rm -f big`;
      const { exitCode, endedBy } = await run(runtime, command, { timeoutMs: 60_000 });
      demand(endedBy === 'exit' && exitCode === 0, `reading a large file ended by ${endedBy} ${exitCode}`);
      return 'the cache is given back: reading a large file just works';
    },
    neighbour: stillWorks,
  },
  {
    id: '3.disk-fill',
    title: 'one file without end, a sparse one, and one deleted but held open',
    expected: 'blocked',
    needs: ['python3'],
    async attack(runtime) {
      const written = await python<Record<string, number>>(
        runtime,
        `def fill(path, delete):
    fd, total = os.open(path, os.O_CREAT | os.O_WRONLY), 0
    if delete: os.unlink(path)
    try:
        for _ in range(${diskMegabytes * 3}): total += os.write(fd, b"x" * (1 << 20))
    except OSError: pass
    os.close(fd)
    if not delete: os.unlink(path)
    return total >> 20
def free(): return os.statvfs("/tmp").f_bavail * os.statvfs("/tmp").f_bsize >> 20
before = free()
fd = os.open("/tmp/sparse", os.O_CREAT | os.O_WRONLY); os.ftruncate(fd, 1 << 40)
os.close(fd)
used = before - free()
os.unlink("/tmp/sparse")
answer({"home": fill("/home/agent/big" if os.path.isdir("/home/agent") else "/tmp/big", False), "deleted": fill("/tmp/gone", True), "sparse": used})`,
      );
      const worst = Math.max(...Object.values(written));
      demand(worst <= diskMegabytes, `${worst} MiB went in, ${diskMegabytes} are allowed`);
      return `full after ${worst} MiB`;
    },
    neighbour: async (runtime) => void (await permitted(runtime, 'head -c 1M /dev/zero > /tmp/small')),
  },
  {
    id: '3.inodes',
    title: 'hundreds of thousands of empty files',
    expected: 'contained',
    needs: ['python3'],
    unclaimed: noGroup('memory', 'the kernel does not count its own memory for files against the cell'),
    async attack(runtime) {
      const source = `os.mkdir("/tmp/many"); made = 0
try:
    for made in range(400000): os.close(os.open(f"/tmp/many/{made}", os.O_CREAT))
except OSError: pass
answer(made)`;
      const before = await kernelMemory();
      const made = await python<number>(runtime, source, { timeoutMs: 60_000 }).catch(() => -1);
      const takenMegabytes = Math.round(((await kernelMemory()) - before) / 1024);
      demand(
        takenMegabytes <= memoryMegabytes * 1.1,
        'the kernel took more memory for them than the cell may have',
      );
      return made < 0 ? 'killed for its memory' : `${made + 1} files made within the memory of the cell`;
    },
    neighbour: async (runtime) => void (await permitted(runtime, 'rm -rf /tmp/many; echo x > /tmp/one')),
  },
  {
    id: '3.workspace',
    title: 'the workspace filled beyond the size of the other directories',
    expected: 'blocked',
    unclaimed: (isolation) =>
      isEnforced(isolation, 'workspace-size')
        ? undefined
        : 'a workspace is a directory of this machine and its size is not limited; a file system of its own or a quota limits it',
    async attack(runtime) {
      const written = await fill(runtime, 'hog', diskMegabytes * 2);
      demand(written <= diskMegabytes, `${written} MiB went in`);
      return `full after ${written} MiB`;
    },
    neighbour: stillWorks,
  },
  {
    id: '3.workspace-limit',
    title: 'a workspace with a limit filled beyond it, by bytes and by names',
    expected: 'blocked',
    needs: ['python3'],
    unclaimed: (_, tools) =>
      limitedCell(tools, 'empty').then(
        () => undefined,
        (error: unknown) => {
          if (isUnsupported(error)) return notLimited;
          throw error;
        },
      ),
    async attack(_, tools) {
      const found: string[] = [];
      for (const mode of ['overlay', 'copy', 'empty'] as const) {
        const limited = await limitedCell(tools, mode).catch((error: unknown) => {
          demand(!isUnsupported(error), 'such a cell does not start');
          throw error;
        });
        demand(isEnforced(limited.isolation, 'workspace-size'), 'the report says that nothing limits it');
        const written = await fill(limited, 'hog', limitedMegabytes * 2);
        demand(written <= limitedMegabytes, `${written} MiB went in, ${limitedMegabytes} are allowed`);
        const names = await python<number>(
          limited,
          `made = 0
try:
    for made in range(${limitedNames * 2}): os.close(os.open(f"many-{made}", os.O_CREAT))
except OSError: pass
answer(made)`,
        );
        demand(names <= limitedNames, `${names} files went in, ${limitedNames} are allowed`);
        await permitted(limited, 'rm many-*; echo more > file; test "$(cat file)" = more');
        found.push(`${mode}: full after ${written} MiB and ${names} names`);
      }
      return found.join('; ');
    },
    neighbour: stillWorks,
  },
  {
    id: '4.cpu-spin',
    title: 'a spin on every processor, with its affinity and priority changed',
    expected: 'contained',
    needs: ['python3'],
    unclaimed: noGroup('processors', 'a process may choose its processors again'),
    async attack(runtime) {
      const { used, processors } = await python<{ used: number; processors: number }>(
        runtime,
        `import time
# The kernel leaves out those that do not exist.
try: os.sched_setaffinity(0, range(1024))
except OSError: pass
try: os.nice(-20)
except OSError: pass
children, started = [], time.monotonic()
for _ in range(4):
    child = os.fork()
    if child == 0:
        while time.monotonic() - started < 2: pass
        os._exit(0)
    children.append(child)
for child in children: os.waitpid(child, 0)
times = os.times()
answer({"used": (times.children_user + times.children_system) / (time.monotonic() - started), "processors": len(os.sched_getaffinity(0))})`,
      );
      demand(used < attackLimits.cpus * 1.25, `it had ${used.toFixed(2)} processors`);
      // On a busy machine it gets little of what it could have, so what it may use counts too.
      const isBounded = isEnforced(runtime.isolation, 'processors') || processors <= attackLimits.cpus;
      demand(isBounded, `it may use ${processors} processors, ${attackLimits.cpus} are allowed`);
      return `it had ${used.toFixed(2)} processors`;
    },
    neighbour: stillWorks,
  },
  {
    id: '5.descriptors',
    title: 'descriptors opened without end',
    expected: 'blocked',
    needs: ['python3'],
    async attack(runtime) {
      const opened = await python<number>(
        runtime,
        `import resource
opened = 0
try:
    for opened in range(100000): os.open("/dev/null", os.O_RDONLY)
except OSError: pass
try:
    resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 20, 1 << 20))
    opened = -1
except (OSError, ValueError): pass
answer(opened)`,
      );
      demand(opened >= 0, 'the limit could be raised from inside');
      demand(opened <= attackLimits.openFiles, `${opened} were opened`);
      return `refused after ${opened}, and the limit cannot be raised`;
    },
    neighbour: stillWorks,
  },
  {
    id: '15.nproc',
    title: 'programs that size their pools by the number of processors',
    expected: 'bounded',
    async attack(runtime) {
      const shown = (await permitted(runtime, 'nproc')).trim();
      demand(shown === String(attackLimits.cpus), `nproc shows ${shown}, the quota is ${attackLimits.cpus}`);
      return `nproc shows ${shown}`;
    },
    neighbour: stillWorks,
  },
];

/** Kilobytes that the kernel of this machine holds for files and the like. */
async function kernelMemory(): Promise<number> {
  const { readFile } = await import('node:fs/promises');
  return Number(/^Slab:\s+(\d+)/m.exec(await readFile('/proc/meminfo', 'utf8'))?.[1] ?? 0);
}

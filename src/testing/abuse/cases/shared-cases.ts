/** What the kernel counts for users and not for cells, memory that no process has mapped, and files with names outside. */
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Isolation, Runtime } from '../../../index.js';
import { type FactCode, findFact, isEnforced } from '../../../protocol/index.js';
import { attackLimits } from '../attack-limits.js';
import { type AbuseCase, demand, endsWith, type Tools } from '../case.js';
import { changers } from '../file-verbs.js';
import { allRefused, permitted, python, run, stillWorks } from '../inside.js';

const memoryMegabytes = attackLimits.memoryBytes / 1024 / 1024;

const unlessEnforced = (code: FactCode, reason: string) => (isolation: Isolation) =>
  isEnforced(isolation, code) ? undefined : reason;

interface Resource {
  readonly id: string;
  readonly title: string;
  readonly code: 'inotify' | 'timers' | 'message-queues';
  /** Python: a function that takes one, and raises when there is none left. */
  readonly take: string;
  /** What one of them counts as. */
  readonly size: number;
  readonly reason: string;
}

/** One cell takes all that it can get and holds it; another one still gets what programs need. */
function takeAll({ id, title, code, take, size, reason }: Resource): AbuseCase {
  return {
    id,
    title,
    expected: 'contained',
    needs: ['python3'],
    unclaimed: (isolation) => endsWith(isolation, 'memory') ?? unlessEnforced(code, reason)(isolation),
    async attack(runtime, tools) {
      const other = await tools.cell();
      const taken = await hold(
        runtime,
        `${take}
taken = 0
try:
    while taken < 200000:
        take(); taken += 1
except OSError: pass`,
      );
      if (taken === 0) return 'there are none to have';
      const limit = findFact(runtime.isolation, code)?.values.limit ?? Number.POSITIVE_INFINITY;
      demand(taken * size <= limit, `${taken * size} were given, ${limit} are allowed`);
      const got = await python<string>(other, `${take}\nanswer(outcome(take))`);
      demand(got === 'ok', `after one cell took ${taken}, another one gets none (${got})`);
      return `refused after ${taken}; another cell gets its own`;
    },
    neighbour: stillWorks,
  };
}

/** Starts Python that leaves a number in `taken`, and returns it while the program runs. */
async function hold(runtime: Runtime, source: string): Promise<number> {
  const prelude = 'import ctypes, errno, os, sys, time\nlibc = ctypes.CDLL(None, use_errno=True)';
  const tell = 'sys.stdout.write(f"{taken}\\n"); sys.stdout.flush(); time.sleep(1000)';
  const { id } = await runtime.processes.start(['python3', '-c', `${prelude}\n${source}\n${tell}`]);
  const heard = new AbortController();
  let text = '';
  return new Promise((resolve, reject) => {
    const onOutput = (chunk: { text: string }) => {
      text += chunk.text;
      if (!text.includes('\n')) return;
      resolve(Number(text.split('\n')[0]));
      heard.abort();
    };
    runtime.processes.wait(id, { onOutput, signal: heard.signal }).then(
      ({ stderr }) => reject(new Error(`The attack ended early: ${stderr.slice(-300)}`)),
      (error: unknown) => reject(error),
    );
  });
}

/**
 * A directory of this machine with a workspace in it, and beside that a file to which the workspace has a hard link.
 */
function linkedWorkspace(tools: Tools): { workspace: string; outside: string; relink(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-linked-'));
  tools.finally(() => rmSync(directory, { recursive: true, force: true }));
  const [workspace, outside] = [join(directory, 'workspace'), join(directory, 'outside')];
  mkdirSync(workspace);
  writeFileSync(outside, 'as it was\n');
  const name = join(workspace, 'linked');
  const relink = () => {
    rmSync(name, { force: true });
    linkSync(outside, name);
  };
  relink();
  return { workspace, outside, relink };
}

export const sharedCases: readonly AbuseCase[] = [
  takeAll({
    id: '96.inotify',
    title: 'all inotify instances of the user taken by one cell',
    code: 'inotify',
    size: 1,
    take: `def take():
    if libc.inotify_init() < 0: raise OSError(ctypes.get_errno(), "inotify")`,
    reason:
      'the kernel counts inotify for users, and without a user namespace cells that run as one user share it',
  }),
  takeAll({
    id: '97.timers',
    title: 'all timers and queued signals of the user taken by one cell',
    code: 'timers',
    size: 1,
    take: `def take():
    if libc.timer_create(1, None, ctypes.byref(ctypes.c_void_p())) < 0: raise OSError(ctypes.get_errno(), "timer")`,
    reason: 'the kernel counts timers for users, and cells that run as one user share them',
  }),
  takeAll({
    id: '98.message-queues',
    title: 'all POSIX message queues of the user taken by one cell',
    code: 'message-queues',
    size: 10 * 8192,
    take: `names = iter(range(100000))
def take():
    if libc.mq_open(b"/queue-%d" % next(names), os.O_CREAT | os.O_RDWR, 0o600, None) < 0: raise OSError(ctypes.get_errno(), "queue")`,
    reason: 'the kernel counts message queues for users, and cells that run as one user share them',
  }),
  {
    id: '99.segments',
    title: 'memory taken through System V segments that no process has attached',
    expected: 'contained',
    needs: ['python3'],
    unclaimed: (isolation) =>
      endsWith(isolation, 'memory') ??
      unlessEnforced(
        'shared-memory',
        'no IPC namespace with limits can be made here, so segments are not counted',
      )(isolation),
    async attack(runtime) {
      const source = `libc.shmat.restype = ctypes.c_void_p
total = 0
while total < ${memoryMegabytes * 2}:
    segment = libc.shmget(0, 1 << 20, 0o1600)
    if segment < 0: break
    address = libc.shmat(segment, None, 0)
    if address in (None, ctypes.c_void_p(-1).value): break
    ctypes.memset(address, 1, 1 << 20)
    libc.shmdt(ctypes.c_void_p(address))
    total += 1
answer(total)`;
      const megabytes = await python<number>(runtime, source).catch(() => undefined);
      if (megabytes === undefined) return 'killed for its memory';
      demand(megabytes <= memoryMegabytes, `${megabytes} MiB were given, ${memoryMegabytes} are allowed`);
      return `refused after ${megabytes} MiB`;
    },
    neighbour: stillWorks,
  },
  {
    id: '100.unmapped-memory',
    title: 'memory that no process has mapped: memfds, and shared pages left behind',
    expected: 'contained',
    needs: ['python3'],
    unclaimed: (isolation) =>
      endsWith(isolation, 'memory') ??
      unlessEnforced(
        'memory',
        'no control group can be made here, and without one nobody counts memory that no process has mapped',
      )(isolation),
    async attack(runtime) {
      const source = `import mmap
memory = os.memfd_create("held")
total = 0
for _ in range(${memoryMegabytes}):
    os.write(memory, b"x" * (1 << 20)); total += 1
# Pages stay when the process that wrote them ends, as long as another has the mapping.
pages = mmap.mmap(-1, ${memoryMegabytes} << 20)
for start in range(0, ${memoryMegabytes}, 16):
    child = os.fork()
    if child == 0:
        pages.seek(start << 20)
        for _ in range(16): pages.write(b"x" * (1 << 20))
        os._exit(0)
    total += 16 if os.waitpid(child, 0)[1] == 0 else 0
answer(total)`;
      const megabytes = await python<number>(runtime, source).catch(() => undefined);
      if (megabytes === undefined) return 'killed for its memory';
      demand(megabytes <= memoryMegabytes, `${megabytes} MiB were held, ${memoryMegabytes} are allowed`);
      return `refused after ${megabytes} MiB`;
    },
    neighbour: async (runtime) =>
      void (await permitted(
        runtime,
        'python3 -c "import os; os.write(os.memfd_create(str(1)), bytes(1 << 20))"',
      )),
  },
  {
    id: '101.linked-files',
    title: 'a hard link to a file outside, changed by every verb',
    expected: 'blocked',
    async attack(_, tools) {
      const { workspace, outside, relink } = linkedWorkspace(tools);
      const linked = await tools.cell({ workspace });
      for (const [verb, change] of Object.entries(changers)) {
        await change(linked, 'linked').catch(() => undefined);
        demand(
          readFileSync(outside, 'utf8') === 'as it was\n',
          `${verb} wrote through a hard link to a file outside`,
        );
        relink();
      }
      return `${Object.keys(changers).length} verbs changed the name and not the file outside`;
    },
    async neighbour(_, tools) {
      const { workspace } = linkedWorkspace(tools);
      const linked = await tools.cell({ workspace });
      await linked.write('linked', 'more\n', { append: true });
      const content = await permitted(linked, 'cat linked');
      if (content !== 'as it was\nmore\n') throw new Error(`An append gave ${JSON.stringify(content)}.`);
    },
  },
  {
    id: '102.linked-files-inside',
    title: 'a hard link to a file outside, written by a command',
    expected: 'blocked',
    unclaimed: () =>
      "a workspace that is given is mounted as it is, and commands write through the hard links in it; mode 'overlay' or 'copy' gives the cell files of its own",
    async attack(_, tools) {
      const { workspace, outside } = linkedWorkspace(tools);
      const linked = await tools.cell({ workspace });
      demand(!isEnforced(linked.isolation, 'hard-links'), 'the report says that there are no such links');
      await run(linked, 'echo changed > linked');
      demand(readFileSync(outside, 'utf8') === 'as it was\n', 'a command wrote through a hard link');
      return 'the file outside is as it was';
    },
    neighbour: stillWorks,
  },
  {
    id: '102.linked-files-in-layers',
    title: "the same in a workspace of mode 'overlay' or 'copy'",
    expected: 'blocked',
    async attack(_, tools) {
      for (const mode of ['overlay', 'copy'] as const) {
        const { workspace, outside } = linkedWorkspace(tools);
        const linked = await tools.cell({ workspace: { from: workspace, mode } });
        await permitted(linked, 'echo changed > linked; test "$(cat linked)" = changed');
        demand(
          readFileSync(outside, 'utf8') === 'as it was\n',
          `mode ${mode}: a command wrote through a hard link`,
        );
      }
      return 'the file outside is as it was';
    },
    neighbour: stillWorks,
  },
  {
    id: '103.executor-place',
    title: 'the way to the executor removed or replaced, in a workspace of the caller',
    expected: 'blocked',
    needs: ['python3'],
    unclaimed: (isolation) =>
      isEnforced(isolation, 'kernel')
        ? 'gVisor has no ambient capabilities, so in a workspace of root’s the executor is root, too'
        : undefined,
    async attack(_, tools) {
      const { workspace } = linkedWorkspace(tools);
      const given = await tools.cell({ workspace });
      demand(isEnforced(given.isolation, 'executor'), 'the report says that the executor is not apart');
      return allRefused(
        await python(
          given,
          `import socket
def listen(path):
    socket.socket(socket.AF_UNIX).bind(path)
places = ["/run/workcell", "/run/workcell/wire"]
result = {}
for place in places:
    if outcome(lambda: os.stat(place)) == "ENOENT": continue
    result["make " + place] = outcome(lambda: os.mkdir(place + "/made"))
    result["listen " + place] = outcome(lambda: listen(place + "/other"))
    result["move " + place] = outcome(lambda: os.rename(place, "/tmp/moved"))
    try: names = os.listdir(place)
    except OSError as error: result["list " + place] = errno.errorcode[error.errno]; names = ["s", "settings.json"]
    for name in names: result[f"remove {place}/{name}"] = outcome(lambda: os.unlink(f"{place}/{name}"))
answer({name: "EROFS" if value in ("EISDIR", "EXDEV", "EBUSY") else value for name, value in result.items()})`,
        ),
      );
    },
    neighbour: async (_, tools) => {
      const { workspace } = linkedWorkspace(tools);
      await stillWorks(await tools.cell({ workspace }));
    },
  },
];

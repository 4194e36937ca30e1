/** Privileges, system calls, mounts and kernel files. */
import { isEnforced } from '../../../protocol/index.js';
import { type AbuseCase, demand, ownKernel } from '../case.js';
import { allRefused, permitted, python, run, stillWorks } from '../inside.js';

export const kernelCases: readonly AbuseCase[] = [
  {
    id: '25.kernel-files',
    title: 'settings of the kernel: core_pattern, sysrq, binfmt, all else below /proc/sys and /sys',
    expected: 'blocked',
    needs: ['python3'],
    async attack(runtime) {
      // Opened and closed again: a program that may open could write.
      const writable = await python<string[]>(
        runtime,
        `import stat
found = []
for root in ("/proc", "/sys"):
    for directory, names, files in os.walk(root):
        if directory == "/proc":
            names[:] = [name for name in names if not name.isdigit() and name not in ("self", "thread-self", "net")]
        for path in (os.path.join(directory, name) for name in files):
            # Reading and asking for notices of pressure is for everybody.
            if path.startswith("/proc/pressure/"): continue
            # What is covered by nothing is not the kernel's any more.
            if stat.S_ISCHR(os.lstat(path).st_mode): continue
            if outcome(lambda: os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))) == "ok": found.append(path)
answer(found)`,
        { timeoutMs: 60_000 },
      );
      const worst = writable.filter((path) => /core_pattern|modprobe|sysrq|binfmt|uevent/.test(path));
      demand(
        writable.length === 0,
        `${writable.length} can be written: ${[...worst, ...writable].slice(0, 4).join(', ')}`,
      );
      return 'none can be opened for writing';
    },
    neighbour: async (runtime) =>
      void (await permitted(runtime, 'cat /proc/sys/kernel/hostname /proc/meminfo >/dev/null')),
  },
  {
    id: '26.mounts',
    title: 'mount, remount, move, pivot and unmount, in old and new calls',
    expected: 'blocked',
    needs: ['python3'],
    async attack(runtime) {
      return allRefused(
        await python(
          runtime,
          `answer({
"mount": outcome(lambda: call((165, 40), b"none", b"/tmp", b"tmpfs", 0, 0)),
"remount": outcome(lambda: call((165, 40), b"none", b"/usr", b"none", 32, 0)),
"bind": outcome(lambda: call((165, 40), b"/", b"/tmp", b"none", 4096, 0)),
"umount2": outcome(lambda: call((166, 39), b"/proc", 2)),
"pivot_root": outcome(lambda: call((155, 41), b"/tmp", b"/tmp")),
"chroot": outcome(lambda: call((161, 51), b"/tmp")),
"open_tree": outcome(lambda: call((428, 428), -100, b"/", 1)),
"move_mount": outcome(lambda: call((429, 429), -100, b"/tmp", -100, b"/tmp", 0)),
"fsopen": outcome(lambda: call((430, 430), b"tmpfs", 0)),
"fspick": outcome(lambda: call((433, 433), -100, b"/", 0)),
"mount_setattr": outcome(lambda: call((442, 442), -100, b"/", 0, 0, 0)),
"open_by_handle_at": outcome(lambda: call((304, 265), -100, b"", 0)),
})`,
        ),
      );
    },
    neighbour: async (runtime) =>
      void (await permitted(runtime, 'cat /proc/self/mountinfo >/dev/null; df /tmp')),
  },
  {
    id: '26.namespaces',
    title: 'a new user namespace to get capabilities, and the namespaces of others',
    expected: 'blocked',
    needs: ['python3'],
    unclaimed: ownKernel,
    async attack(runtime) {
      return allRefused(
        await python(
          runtime,
          `kinds = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x8000000, "uts": 0x4000000, "cgroup": 0x2000000, "time": 0x80}
result = {"unshare " + name: outcome(lambda: call((272, 97), flag)) for name, flag in kinds.items()}
result["clone user"] = outcome(lambda: call((56, 220), 0x10000000 | 17, 0, 0, 0, 0))
result["clone3"] = outcome(lambda: call((435, 435), 0, 0))
def join(path): call((308, 268), os.open(path, os.O_RDONLY), 0)
# Not every kernel shows them, nor to all.
for path in ("/proc/1/ns/mnt", "/proc/self/ns/mnt"):
    joined = outcome(lambda: join(path))
    if joined != "ENOENT": result["setns " + path] = joined
answer(result)`,
        ),
      );
    },
    neighbour: async (runtime) => void (await permitted(runtime, '( echo a subshell ) | cat')),
  },
  {
    id: '27.overlay',
    title: 'whiteouts, overlay and capability attributes on files of the workspace',
    expected: 'blocked',
    needs: ['python3'],
    async attack(runtime) {
      return allRefused(
        await python(
          runtime,
          `import stat
open("file", "w").close()
def attribute(name): return outcome(lambda: os.setxattr("file", name, b"y"))
# A kernel that does not know the flag calls it invalid.
whiteout = outcome(lambda: call((316, 276), -100, b"file", -100, b"moved", 4))
answer({
"whiteout": outcome(lambda: os.mknod("white", stat.S_IFCHR | 0o600, 0)),
"whiteout rename": "EOPNOTSUPP" if whiteout == "EINVAL" else whiteout,
"trusted.overlay.opaque": attribute("trusted.overlay.opaque"),
"security.capability": outcome(lambda: os.setxattr("file", "security.capability", bytes.fromhex("0100000200200000000000000000000000000000"))),
})`,
        ),
      );
    },
    neighbour: async (runtime) =>
      void (await permitted(runtime, 'mkfifo pipe && ln file hard 2>/dev/null; touch a && mv a b')),
  },
  {
    id: '30.privileges',
    title: 'set-user-id programs of the system, file capabilities, becoming another user',
    expected: 'blocked',
    needs: ['python3'],
    async attack(runtime) {
      const status = await permitted(runtime, 'cat /proc/self/status');
      const sets = [...status.matchAll(/^(Cap\w+):\s+([\da-f]+)$/gm)];
      // Not every kernel shows all five.
      demand(sets.length >= 4, 'the kernel does not say which capabilities there are');
      const held = sets.filter(([, , bits = '']) => /[^0]/.test(bits)).map(([, set]) => set);
      demand(held.length === 0, `capabilities in ${held.join(', ')}`);
      const { locked, tried, gained } = await python<{ locked: number; tried: number; gained: string[] }>(
        runtime,
        `import stat, subprocess
own = {os.getuid(), os.getgid()}
paths, gained = set(), []
for top in ("/usr", "/bin", "/sbin", "/lib", "/opt"):
    for directory, below, names in os.walk(os.path.realpath(top)):
        # Where no programs are, and most files.
        below[:] = [name for name in below if name not in ("share", "include") and not name.startswith("python")]
        for path in (os.path.join(directory, name) for name in names):
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode) and mode & 0o6000 and os.access(path, os.X_OK): paths.add(path)
for path in paths:
    # It has been replaced by the program when this returns, and shows whom it runs as even when it has ended.
    child = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    ids = [line.split()[1:] for line in open(f"/proc/{child.pid}/status") if line.startswith(("Uid:", "Gid:"))]
    if len(ids) != 2 or any(int(word) not in own for words in ids for word in words): gained.append(path)
    child.kill(); child.wait()
answer({"locked": libc.prctl(39, 0, 0, 0, 0), "tried": len(paths), "gained": gained})`,
        { timeoutMs: 60_000 },
      );
      demand(locked === 1, 'no_new_privs is not set');
      demand(gained.length === 0, `more rights through ${gained.slice(0, 4).join(', ')}`);
      const outcomes = await python<Record<string, string>>(
        runtime,
        `def become(name, number):
    became = outcome(lambda: getattr(os, name)(number))
    # There is no such user where his number stands for nobody.
    return "EPERM" if became == "EINVAL" else became
answer({
"setgroups": outcome(lambda: os.setgroups([0])),
**{f"{name} {number}": become(name, number) for name in ("setuid", "seteuid", "setgid", "setegid") for number in (0, 1001, 65534) if number not in (os.getuid(), os.getgid())},
})`,
      );
      return `no capabilities, no_new_privs; ${tried} programs give nothing; ${allRefused(outcomes)}`;
    },
    neighbour: async (runtime) => void (await permitted(runtime, 'cp /bin/sh own && ./own -c id')),
  },
  {
    id: '30.set-user-id-files',
    title: 'files of the cell made set-user-id or set-group-id, for whoever starts them, also outside',
    expected: 'blocked',
    needs: ['python3'],
    unclaimed: (isolation) =>
      isEnforced(isolation, 'set-id-files')
        ? undefined
        : `${isEnforced(isolation, 'kernel') ? 'gVisor has no filter before it' : 'the filter of the cluster allows it'}, so files of the workspace may get the set-user-id bit, which counts outside`,
    async attack(runtime) {
      const outcomes = await python<Record<string, string>>(
        runtime,
        `import shutil
shutil.copy("/bin/sh", "shell")
fd = os.open("shell", os.O_RDONLY)
answer({
"chmod u+s": outcome(lambda: os.chmod("shell", 0o4755)),
"fchmod u+s": outcome(lambda: os.fchmod(fd, 0o4755)),
"create u+s": outcome(lambda: os.close(os.open("suid", os.O_CREAT | os.O_WRONLY, 0o4755))),
"chmod g+s": outcome(lambda: os.chmod("shell", 0o2755)),
"fchmod g+s": outcome(lambda: os.fchmod(fd, 0o2755)),
"create g+s": outcome(lambda: os.close(os.open("sgid", os.O_CREAT | os.O_WRONLY, 0o2755))),
"mknod g+s": outcome(lambda: os.mknod("node", 0o102755)),
})`,
      );
      const detail = allRefused(outcomes);
      const { output: made } = await run(
        runtime,
        'find . /tmp /var/tmp /dev/shm "$HOME" -type f -perm /6000 2>/dev/null',
      );
      demand(made === '', `there is ${made.trim()}`);
      const nosuid = await permitted(
        runtime,
        "grep -v ' proc ' /proc/self/mountinfo | grep -v nosuid || true",
      );
      // An engine mounts images as they are, and no_new_privs makes up for it.
      const honoured = runtime.isolation.tier === 'namespace' ? nosuid : '';
      demand(honoured === '', `mounts that honour set-user-id: ${honoured.trim()}`);
      return detail;
    },
    neighbour: async (runtime) =>
      void (await permitted(runtime, 'cp /bin/sh own && chmod 755 own && ./own -c true && chmod 1777 .')),
  },
  {
    id: '31.other-processes',
    title: 'ptrace and memory reads of the first process of the cell',
    expected: 'blocked',
    needs: ['python3'],
    async attack(runtime) {
      return allRefused(
        await python(
          runtime,
          `answer({
"ptrace attach": outcome(lambda: call((101, 117), 16, 1, 0, 0)),
"ptrace seize": outcome(lambda: call((101, 117), 0x4206, 1, 0, 0)),
"process_vm_readv": outcome(lambda: call((310, 270), 1, 0, 0, 0, 0, 0)),
"process_vm_writev": outcome(lambda: call((311, 271), 1, 0, 0, 0, 0, 0)),
"pidfd_getfd": outcome(lambda: call((438, 438), os.pidfd_open(1), 0, 0)),
"kcmp": outcome(lambda: call((312, 272), 1, 1, 0, 0, 0)),
})`,
        ),
      );
    },
    neighbour: async (runtime) => void (await permitted(runtime, 'sleep 100 & kill $!; ps >/dev/null')),
  },
  {
    id: '31.memory-file',
    title: 'the memory of the first process overwritten through /proc',
    expected: 'contained',
    needs: ['python3'],
    async attack(runtime, tools) {
      const other = await tools.cell();
      const done = await python<string>(
        runtime,
        `def scribble():
    line = next(line for line in open("/proc/1/maps") if "[heap]" in line)
    start, end = (int(part, 16) for part in line.split()[0].split("-"))
    fd = os.open("/proc/1/mem", os.O_RDWR)
    os.pwrite(fd, b"\\xff" * (end - start), start)
answer(outcome(scribble))`,
      ).catch(() => 'lost');
      const after = await Promise.race([
        runtime.run('echo alive', { session: 'after', timeoutMs: 10_000 }).then(
          () => 'answers',
          () => 'is refused',
        ),
        new Promise<string>((resolve) => setTimeout(resolve, 40_000, 'hangs').unref()),
      ]);
      demand(after !== 'hangs', 'the next call is not answered within 40 s');
      await permitted(other, 'echo unharmed');
      return done === 'ok' || done === 'lost'
        ? `only this cell is hurt; its next call ${after}`
        : `refused with ${done}`;
    },
    neighbour: async (_, tools) => stillWorks(await tools.cell()),
  },
  {
    id: '31.neighbours',
    title: 'processes of another cell and of this machine seen or signalled',
    expected: 'contained',
    async attack(runtime, tools) {
      const other = await tools.cell();
      const { id } = await other.processes.start(['sleep', '987654']);
      const { output } = await run(
        runtime,
        `cat /proc/*/cmdline | tr '\\0' ' '; kill -0 ${process.pid} && echo reached`,
      );
      demand(!output.includes('987654'), 'a process of the other cell is seen');
      demand(!/^reached$/m.test(output), 'a process of this machine can be signalled');
      demand((await other.processes.get(id)).running, 'a process of the other cell ended');
      return 'neither seen nor reached';
    },
    neighbour: stillWorks,
  },
  {
    id: '34.system-calls',
    title: 'bpf, perf, userfaultfd, keyrings, io_uring, modules, kexec, clocks and the like',
    expected: 'blocked',
    needs: ['python3'],
    unclaimed: ownKernel,
    async attack(runtime) {
      return allRefused(
        await python(
          runtime,
          `numbers = {"bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "io_uring_setup": (425, 425), "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224), "settimeofday": (164, 170), "clock_settime": (227, 112), "syslog": (103, 116), "acct": (163, 89), "sethostname": (170, 161), "fanotify_init": (300, 262), "quotactl": (179, 60)}
answer({name: outcome(lambda: call(number, -1, 0, 0, 0xffff, 0)) for name, number in numbers.items()})`,
        ),
      );
    },
    neighbour: async (runtime) =>
      void (await permitted(
        runtime,
        'python3 -c "import threading, subprocess, tempfile, mmap; mmap.mmap(-1, 4096)"',
      )),
  },
  {
    id: '34.sockets',
    title: 'raw sockets and rare families, each a piece of the kernel that loads on first use',
    expected: 'blocked',
    needs: ['python3'],
    unclaimed: ownKernel,
    async attack(runtime) {
      return allRefused(
        await python(
          runtime,
          `import socket
kinds = {"packet": (17, 3, 0), "raw": (2, 3, 1), "raw6": (10, 3, 58), "vsock": (40, 1, 0), "alg": (38, 5, 0), "tipc": (30, 1, 0), "rxrpc": (33, 2, 2), "can": (29, 3, 1), "bluetooth": (31, 3, 0), "netfilter": (16, 3, 12), "xfrm": (16, 3, 6), "sctp": (2, 1, 132), "rds": (21, 5, 0), "x25": (9, 5, 0), "key": (15, 3, 2), "xdp": (44, 3, 0)}
answer({name: outcome(lambda: socket.socket(*kind)) for name, kind in kinds.items()})`,
        ),
      );
    },
    neighbour: async (runtime) =>
      void (await permitted(
        runtime,
        'python3 -c "import socket; socket.socketpair(); socket.socket(); socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"',
      )),
  },
];

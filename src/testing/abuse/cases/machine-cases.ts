/** Terminals, control groups, sockets and devices of this machine, and what cells might share. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { type AbuseCase, demand, ownKernel } from '../case.js';
import { allRefused, permitted, python, run, stillWorks } from '../inside.js';

const devices = [
  'mem',
  'kmem',
  'port',
  'kvm',
  'kmsg',
  'fuse',
  'loop0',
  'loop-control',
  'sda',
  'vda',
  'nvme0n1',
  'dm-0',
  'userfaultfd',
  'vsock',
  'net/tun',
  'vhost-net',
  'uinput',
  'tty0',
  'tty1',
  'ttyS0',
  'snapshot',
  'hwrng',
  'btrfs-control',
  'nvidia0',
  'dri/card0',
  'rtc0',
];

const sockets = [
  '/var/run/docker.sock',
  '/run/docker.sock',
  '/run/containerd/containerd.sock',
  '/run/podman/podman.sock',
  '/run/crio/crio.sock',
  '/var/run/cri-dockerd.sock',
  '/run/systemd/private',
  '/run/dbus/system_bus_socket',
  '/run/snapd.socket',
  '/tmp/.X11-unix',
  '/run/user',
  '/var/run/secrets/kubernetes.io/serviceaccount/token',
  '/var/lib/kubelet',
  '/var/lib/docker',
  '/etc/kubernetes',
  '/root/.kube',
  '/root/.docker',
  '/root/.ssh',
  '/home/*/.ssh',
];

export const machineCases: readonly AbuseCase[] = [
  {
    id: '32.terminal-injection',
    title: 'TIOCSTI and TIOCLINUX: typing into the terminal of whoever reads it',
    expected: 'blocked',
    needs: ['python3'],
    async attack(runtime) {
      const probe = [
        'import fcntl, os',
        'for name in ("/dev/tty", "/dev/console", "/proc/self/fd/0"):',
        '    try: fd = os.open(name, os.O_RDWR | os.O_NOCTTY)',
        '    except OSError: continue',
        '    for request in (0x5412, 0x541c, 0x541d, 0x5423):',
        '        for letter in "echo injected\\n":',
        '            try: fcntl.ioctl(fd, request, letter.encode()); print("done", hex(request))',
        '            except OSError: pass',
      ].join('\n');
      await runtime.write('inject.py', probe);
      const { output } = await run(runtime, 'python3 inject.py');
      demand(!output.includes('done'), `the terminal took it: ${output.trim().split('\n')[0]}`);
      const next = await run(runtime, 'echo next');
      demand(next.output === 'next\n', `the next command printed ${JSON.stringify(next.output)}`);
      return 'refused, and nothing was typed';
    },
    neighbour: async (runtime) => void (await permitted(runtime, 'stty size && stty -echo && stty echo')),
  },
  {
    id: '36.control-groups',
    title: 'control groups: release_agent, moving to another group, writing own limits',
    expected: 'blocked',
    needs: ['python3'],
    async attack(runtime) {
      // Engines show a container its own group, for programs that look there for their limits; it must have no effect.
      const { files, changed } = await python<{ files: number; changed: string[] }>(
        runtime,
        `files, changed = 0, []
mounted = {words[1] for words in map(str.split, open("/proc/self/mounts")) if words[2] in ("cgroup", "cgroup2", "cpuset")}
for top in mounted | {"/sys/fs/cgroup", "/cgroup", "/dev/cgroup"}:
    for directory, _, names in os.walk(top):
        if outcome(lambda: os.mkdir(os.path.join(directory, "own"))) == "ok": changed.append(directory)
        for path in (os.path.join(directory, name) for name in names):
            files += 1
            if outcome(lambda: os.close(os.open(path, os.O_WRONLY))) == "ok": changed.append(path)
answer({"files": files, "changed": changed})`,
      );
      demand(changed.length === 0, `it can change ${changed.slice(0, 4).join(', ')}`);
      const detail = allRefused(
        await python(
          runtime,
          `answer({f"{kind} {option}": outcome(lambda: call((165, 40), b"none", b"/tmp", kind.encode(), 0, option)) for kind, option in (("cgroup", b"rdma"), ("cgroup", b"memory"), ("cgroup2", b""))})`,
        ),
      );
      return `${files} control files, none can be written; mounting one: ${detail}`;
    },
    neighbour: stillWorks,
  },
  {
    id: '37.control-sockets',
    title: 'sockets and tokens of Docker, containerd, Podman, Kubernetes, systemd and X',
    expected: 'blocked',
    needs: ['python3'],
    async attack(runtime, tools) {
      const { output } = await run(
        runtime,
        `ls -d ${sockets.join(' ')} 2>/dev/null; env | grep -E '^(KUBERNETES|DOCKER|DBUS|XDG|SSH|DISPLAY)'`,
      );
      demand(output === '', `there is ${output.trim().split('\n').join(', ')}`);
      // An abstract socket has no file to hide from the cell.
      const name = `workcell-abuse-${randomBytes(8).toString('hex')}`;
      let reached = false;
      const server = createServer((socket) => {
        reached = true;
        socket.destroy();
      });
      await new Promise<void>((resolve) => server.listen(`\0${name}`, resolve));
      tools.finally(() => server.close());
      const answer = await python<string>(
        runtime,
        `import socket\nanswer(outcome(lambda: socket.socket(socket.AF_UNIX).connect("\\0${name}")))`,
      );
      demand(answer !== 'ok' && !reached, 'an abstract socket of this machine was reached');
      return `${sockets.length} paths absent, an abstract socket: ${answer}`;
    },
    neighbour: async (runtime) =>
      void (await permitted(
        runtime,
        `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("own.sock"); s.listen(); socket.socket(socket.AF_UNIX).connect("own.sock")'`,
      )),
  },
  {
    id: '39.devices',
    title: 'devices of this machine, opened or made',
    expected: 'blocked',
    needs: ['python3'],
    unclaimed: ownKernel,
    async attack(runtime) {
      const opened = await python<string[]>(
        runtime,
        `names = ${JSON.stringify(devices)}
answer([name for name in names if outcome(lambda: os.close(os.open("/dev/" + name, os.O_RDONLY | os.O_NONBLOCK))) == "ok"])`,
      );
      demand(opened.length === 0, `opened: ${opened.join(', ')}`);
      const detail = allRefused(
        await python(
          runtime,
          `import stat
answer({path + name: outcome(lambda: os.mknod(path + name, kind | 0o666, number)) for path in ("", "/tmp/", "/dev/shm/") for name, kind, number in (("mem", stat.S_IFCHR, os.makedev(1, 1)), ("disk", stat.S_IFBLK, os.makedev(8, 0)), ("loop", stat.S_IFBLK, os.makedev(7, 0)))})`,
        ),
      );
      return `${devices.length} absent; making them: ${detail}`;
    },
    neighbour: async (runtime) =>
      void (await permitted(
        runtime,
        'mkfifo fifo && head -c 8 /dev/urandom >/dev/null && echo x > /dev/null && head -c 1 /dev/zero >/dev/null',
      )),
  },
  {
    id: '39.shared-memory',
    title: '/dev/shm, /tmp and System V memory shared between two cells',
    expected: 'contained',
    needs: ['python3'],
    async attack(runtime, tools) {
      const other = await tools.cell();
      const name = `shared${Date.now()}`;
      await permitted(runtime, `echo secret > /dev/shm/${name}; echo secret > /tmp/${name}`);
      await python(runtime, 'answer(libc.shmget(424242, 4096, 0o1666))');
      const seen = await run(other, `cat /dev/shm/${name} /tmp/${name} 2>/dev/null`);
      demand(seen.output === '', 'a file of one cell is seen in the other');
      const segment = await python<number>(other, 'answer(libc.shmget(424242, 0, 0))');
      demand(segment === -1, 'a System V segment of one cell is seen in the other');
      const outside = await import('node:fs').then(({ existsSync }) => existsSync(`/dev/shm/${name}`));
      demand(!outside, 'a file of /dev/shm is seen on this machine');
      return 'each cell has its own';
    },
    neighbour: async (runtime) =>
      void (await permitted(runtime, 'echo x > /dev/shm/own && cat /dev/shm/own')),
  },
  {
    id: '41.random',
    title: 'three cells draw random bytes',
    expected: 'bounded',
    async attack(_, tools) {
      const cells = await Promise.all([tools.cell(), tools.cell(), tools.cell()]);
      const draws = await Promise.all(
        cells.map((cell) =>
          permitted(
            cell,
            'head -c 16 /dev/urandom | od -An -tx1; echo $RANDOM$RANDOM$RANDOM; mktemp -u XXXXXXXXXX',
          ),
        ),
      );
      demand(
        new Set(draws.flatMap((draw) => draw.split('\n').slice(0, 3))).size === 9,
        'two cells drew the same',
      );
      return 'all differ';
    },
    neighbour: stillWorks,
  },
];

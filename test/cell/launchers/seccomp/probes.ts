/** Calls that the filter must refuse, and neighbours that it must not, for the simulated and for the real kernel. */
import type { Errno } from '../../../../src/cell/launchers/seccomp/seccomp-policy.js';
import type { SyscallName } from '../../../../src/cell/launchers/seccomp/syscalls.js';

/** A string becomes a pointer to it. Arguments do no harm even where a privileged kernel takes them. */
type Argument = number | string;

export interface Probe {
  readonly title: string;
  readonly call: SyscallName;
  readonly arguments: readonly Argument[];
}

export interface RefusedProbe extends Probe {
  readonly answer: Errno;
}

const SIGCHLD = 17;
const HIGH = 0x1_0000_0000;
const [CHR, BLK, FIFO, REG] = [0o020000, 0o060000, 0o010000, 0o100000];
const [O_WRONLY, O_CREAT, O_TMPFILE] = [0o1, 0o100, 0o20000000];
const AT_FDCWD = -100;
const CLOEXEC = 0o2000000;

const refuse = (
  answer: Errno,
  call: SyscallName,
  parameters: readonly Argument[] = [],
  note = '',
): RefusedProbe => ({
  title: note ? `${call}: ${note}` : call,
  call,
  arguments: parameters,
  answer,
});

const namespaces: Record<string, number> = {
  mount: 0x20000,
  cgroup: 0x2000000,
  uts: 0x4000000,
  ipc: 0x8000000,
  user: 0x10000000,
  pid: 0x20000000,
  net: 0x40000000,
};

const rareFamilies: Record<string, number> = {
  AF_UNSPEC: 0,
  AF_AX25: 3,
  AF_X25: 9,
  AF_KEY: 15,
  AF_PACKET: 17,
  AF_RDS: 21,
  AF_PPPOX: 24,
  AF_CAN: 29,
  AF_TIPC: 30,
  AF_BLUETOOTH: 31,
  AF_RXRPC: 33,
  AF_KCM: 41,
  AF_ALG: 38,
  AF_NFC: 39,
  AF_VSOCK: 40,
  AF_QIPCRTR: 42,
  AF_SMC: 43,
  AF_XDP: 44,
};

export const refused: readonly RefusedProbe[] = [
  ...Object.entries(namespaces).flatMap(([name, flag]) => [
    refuse('EPERM', 'clone', [flag | SIGCHLD, 0, 0, 0, 0], `new ${name} namespace`),
    refuse('EPERM', 'unshare', [flag], `new ${name} namespace`),
  ]),
  refuse(
    'EPERM',
    'clone',
    [HIGH + (0x10000000 | SIGCHLD), 0, 0, 0, 0],
    'new user namespace behind high bits',
  ),
  refuse('EPERM', 'unshare', [0x80], 'new time namespace'),
  refuse('EPERM', 'unshare', [0x100000], 'a flag of later kernels'),
  refuse('EPERM', 'unshare', [HIGH], 'a flag above 32 bits'),
  refuse('ENOSYS', 'clone3', [0, 0]),
  refuse('EPERM', 'setns', [-1, 0]),

  refuse('EPERM', 'mount', [0, 0, 0, 0, 0]),
  refuse('EPERM', 'umount2', ['/nonexistent', 0]),
  refuse('EPERM', 'pivot_root', [0, 0]),
  refuse('EPERM', 'chroot', ['/']),
  refuse('EPERM', 'move_mount', [-1, 0, -1, 0, 0]),
  refuse('EPERM', 'open_tree', [-1, 0, 0]),
  refuse('EPERM', 'open_tree_attr', [-1, 0, 0, 0, 0]),
  refuse('EPERM', 'fsopen', [0, 0]),
  refuse('EPERM', 'fsconfig', [-1, 0, 0, 0, 0]),
  refuse('EPERM', 'fsmount', [-1, 0, 0]),
  refuse('EPERM', 'fspick', [-1, 0, 0]),
  refuse('EPERM', 'mount_setattr', [-1, 0, 0, 0, 0]),
  refuse('EPERM', 'open_by_handle_at', [-1, 0, 0]),
  refuse('EOPNOTSUPP', 'name_to_handle_at', [-1, 0, 0, 0, 0]),
  refuse('EPERM', 'mknod', ['/tmp/whiteout', CHR | 0o600, 0], 'whiteout'),
  refuse('EPERM', 'mknod', ['/tmp/block', BLK | 0o600, 0x700], 'block device'),
  refuse('EPERM', 'mknodat', [AT_FDCWD, '/tmp/whiteout', CHR | 0o600, 0], 'whiteout'),
  refuse('EPERM', 'mknodat', [AT_FDCWD, '/tmp/block', BLK | 0o600, 0x700], 'block device'),
  refuse('EPERM', 'mknodat', [AT_FDCWD, '/tmp/char', HIGH + (CHR | 0o600), 0x103], 'device behind high bits'),
  refuse('EPERM', 'renameat2', [AT_FDCWD, '/tmp/file', AT_FDCWD, '/tmp/moved', 4], 'RENAME_WHITEOUT'),
  refuse('EPERM', 'fanotify_init', [0xffffffff, 0]),
  refuse('EPERM', 'quotactl', [0xffffffff, 0, 0, 0]),
  refuse('EPERM', 'quotactl_fd', [-1, 0, 0, 0]),
  refuse('EPERM', 'acct', ['/nonexistent']),

  refuse('EPERM', 'chmod', ['/tmp/file', 0o4755], 'set-user-id'),
  refuse('EPERM', 'fchmod', [-1, 0o4755], 'set-user-id'),
  refuse('EPERM', 'fchmodat', [AT_FDCWD, '/tmp/file', 0o4755], 'set-user-id'),
  refuse('EPERM', 'fchmodat2', [AT_FDCWD, '/tmp/file', 0o4755, 0], 'set-user-id'),
  refuse('EPERM', 'creat', ['/tmp/made', 0o4755], 'set-user-id'),
  refuse('EPERM', 'mknod', ['/tmp/made', REG | 0o4755, 0], 'set-user-id'),
  refuse('EPERM', 'mknodat', [AT_FDCWD, '/tmp/made', REG | 0o4755, 0], 'set-user-id'),
  refuse('EPERM', 'open', ['/tmp/made', O_CREAT | O_WRONLY, 0o4755], 'set-user-id'),
  refuse('EPERM', 'openat', [AT_FDCWD, '/tmp/made', O_CREAT | O_WRONLY, 0o4755], 'set-user-id'),
  refuse('EPERM', 'openat', [AT_FDCWD, '/tmp', O_TMPFILE | O_WRONLY, 0o4755], 'set-user-id, nameless'),
  refuse('EPERM', 'chmod', ['/tmp/file', 0o2755], 'set-group-id'),
  refuse('EPERM', 'fchmod', [-1, 0o2755], 'set-group-id'),
  refuse('EPERM', 'fchmodat', [AT_FDCWD, '/tmp/file', 0o2755], 'set-group-id'),
  refuse('EPERM', 'fchmodat2', [AT_FDCWD, '/tmp/file', 0o2755, 0], 'set-group-id'),
  refuse('EPERM', 'creat', ['/tmp/made', 0o2755], 'set-group-id'),
  refuse('EPERM', 'mknod', ['/tmp/made', REG | 0o2755, 0], 'set-group-id'),
  refuse('EPERM', 'mknodat', [AT_FDCWD, '/tmp/made', REG | 0o2755, 0], 'set-group-id'),
  refuse('EPERM', 'open', ['/tmp/made', O_CREAT | O_WRONLY, 0o2755], 'set-group-id'),
  refuse('EPERM', 'openat', [AT_FDCWD, '/tmp/made', O_CREAT | O_WRONLY, 0o2755], 'set-group-id'),
  refuse('EPERM', 'openat', [AT_FDCWD, '/tmp', O_TMPFILE | O_WRONLY, 0o2755], 'set-group-id, nameless'),
  refuse('ENOSYS', 'openat2', [-1, 0, 0, 0]),

  refuse('EPERM', 'ioctl', [-1, 0x5412, 0], 'TIOCSTI'),
  refuse('EPERM', 'ioctl', [-1, HIGH + 0x5412, 0], 'TIOCSTI behind high bits'),
  refuse('EPERM', 'ioctl', [-1, 0x541c, 0], 'TIOCLINUX'),
  refuse('EPERM', 'ioctl', [-1, HIGH * 0x1000 + 0x541c, 0], 'TIOCLINUX behind high bits'),
  refuse('EPERM', 'ioctl', [-1, 0x541d, 0], 'TIOCCONS'),
  refuse('EPERM', 'ioctl', [-1, 0x5423, 0], 'TIOCSETD'),
  refuse('EPERM', 'vhangup'),

  refuse('EPERM', 'ptrace', [16, 0x7ffffff0, 0, 0]),
  refuse('EPERM', 'process_vm_readv', [0x7ffffff0, 0, 0, 0, 0, 0]),
  refuse('EPERM', 'process_vm_writev', [0x7ffffff0, 0, 0, 0, 0, 0]),
  refuse('EPERM', 'pidfd_getfd', [-1, 0, 0]),
  refuse('EPERM', 'kcmp', [0x7ffffff0, 0x7ffffff0, 0, 0, 0]),

  refuse('ENOSYS', 'io_uring_setup', [1, 0]),
  refuse('ENOSYS', 'io_uring_enter', [-1, 0, 0, 0, 0, 0]),
  refuse('ENOSYS', 'io_uring_register', [-1, 0, 0, 0]),
  refuse('EPERM', 'bpf', [9999, 0, 0]),
  refuse('EPERM', 'perf_event_open', [0, 0, 0, -1, 0]),
  refuse('EPERM', 'userfaultfd', [0xffff]),
  refuse('EPERM', 'add_key', [0, 0, 0, 0, 0]),
  refuse('EPERM', 'request_key', [0, 0, 0, 0]),
  refuse('EPERM', 'keyctl', [0, -1, 0]),

  ...Object.entries(rareFamilies).flatMap(([name, family]) => [
    refuse('EAFNOSUPPORT', 'socket', [family, 2, 0], name),
    refuse('EAFNOSUPPORT', 'socketpair', [family, 2, 0, 0], name),
  ]),
  refuse('EAFNOSUPPORT', 'socket', [HIGH + 17, 3, 0], 'AF_PACKET behind high bits'),
  refuse('EPROTONOSUPPORT', 'socket', [16, 3, 12], 'NETLINK_NETFILTER'),
  refuse('EPROTONOSUPPORT', 'socket', [16, 3 | CLOEXEC, 9], 'NETLINK_AUDIT'),
  refuse('EPROTONOSUPPORT', 'socket', [16, 3, 6], 'NETLINK_XFRM'),
  refuse('EPERM', 'socket', [2, 3, 1], 'raw IPv4'),
  refuse('EPERM', 'socket', [10, 3 | CLOEXEC, 58], 'raw IPv6'),
  refuse('EPERM', 'socket', [2, 10, 0x300], 'SOCK_PACKET'),
  refuse('ESOCKTNOSUPPORT', 'socket', [2, 6, 33], 'DCCP'),
  refuse('ESOCKTNOSUPPORT', 'socket', [2, 5, 132], 'SCTP, packets'),
  refuse('EPROTONOSUPPORT', 'socket', [10, 1, 132], 'SCTP, stream'),
  refuse('EPROTONOSUPPORT', 'socket', [2, 2, 115], 'L2TP'),
  refuse('EPROTONOSUPPORT', 'socket', [2, 1, 262], 'MPTCP'),
  refuse('ENOENT', 'setsockopt', [-1, 6, 31, 0, 0], 'TCP_ULP'),

  refuse('EPERM', 'init_module', [0, 0, 0]),
  refuse('EPERM', 'finit_module', [-1, 0, 0]),
  refuse('EPERM', 'delete_module', [0, 0]),
  refuse('EPERM', 'kexec_load', [0, 0, 0, 0xffff]),
  refuse('EPERM', 'kexec_file_load', [-1, -1, 0, 0, 0xffff]),
  refuse('EPERM', 'reboot', [0, 0, 0, 0]),
  refuse('EPERM', 'swapon', ['/nonexistent', 0xffffffff]),
  refuse('EPERM', 'swapoff', [0]),
  refuse('EPERM', 'settimeofday', [0, 0]),
  refuse('EPERM', 'clock_settime', [9999, 0]),
  refuse('EPERM', 'clock_adjtime', [9999, 0]),
  refuse('EPERM', 'adjtimex', [0]),
  refuse('EPERM', 'syslog', [10, 0, 0]),
  refuse('EPERM', 'sethostname', [0, 9999]),
  refuse('EPERM', 'setdomainname', [0, 9999]),
  refuse('EPERM', 'iopl', [0]),
  refuse('EPERM', 'ioperm', [0, 0, 0]),
  refuse('EPERM', 'modify_ldt', [0, 0, 0]),
  refuse('EPERM', 'uselib', [0]),
  refuse('EPERM', 'nfsservctl', [0, 0, 0]),
  refuse('EPERM', 'lookup_dcookie', [0, 0, 0]),
  refuse('EPERM', 'personality', [0x400000], 'READ_IMPLIES_EXEC'),
  refuse('EPERM', 'personality', [0x100000], 'MMAP_PAGE_ZERO'),
];

const allow = (call: SyscallName, parameters: readonly Argument[], note: string): Probe => ({
  title: `${call}: ${note}`,
  call,
  arguments: parameters,
});

/** The same calls asked for something ordinary. */
export const allowed: readonly Probe[] = [
  allow('clone', [SIGCHLD, 0, 0, 0, 0], 'fork'),
  allow('clone', [0x80 | SIGCHLD, 0, 0, 0, 0], 'an odd exit signal'),
  allow('unshare', [0x400 | 0x200 | 0x40000], 'files, fs, semaphores'),
  allow('mknod', ['/tmp/fifo', FIFO | 0o600, 0], 'FIFO'),
  allow('mknodat', [AT_FDCWD, '/tmp/fifo', FIFO | 0o600, 0], 'FIFO'),
  allow('mknodat', [AT_FDCWD, '/tmp/regular', REG | 0o600, 0], 'regular file'),
  allow('renameat2', [AT_FDCWD, '/tmp/file', AT_FDCWD, '/tmp/moved', 1], 'RENAME_NOREPLACE'),
  allow('chmod', ['/tmp/file', 0o1775], 'sticky and the rest'),
  allow('fchmodat', [AT_FDCWD, '/tmp/file', 0o1755], 'sticky'),
  allow('fchmodat2', [AT_FDCWD, '/tmp/file', 0o755, 0], 'plain'),
  allow('open', ['/tmp/made', O_CREAT | O_WRONLY, 0o755], 'create'),
  allow('open', ['/tmp/file', 0, 0o7777], 'read, with rubbish in the mode register'),
  allow('openat', [AT_FDCWD, '/tmp/made', O_CREAT | O_WRONLY, 0o755], 'create'),
  allow('openat', [AT_FDCWD, '/tmp/file', 0, 0o7777], 'read, with rubbish in the mode register'),
  allow('ioctl', [-1, 0x5413, 0], 'TIOCGWINSZ'),
  allow('ioctl', [-1, 0x540e, 0], 'TIOCSCTTY'),
  allow('ioctl', [-1, 0x5401, 0], 'TCGETS'),
  allow('ioctl', [-1, 0x5411, 0], 'the number below TIOCSTI'),
  allow('socket', [1, 1 | CLOEXEC, 0], 'AF_UNIX'),
  allow('socket', [1, 5, 0], 'AF_UNIX, packets'),
  allow('socket', [1, 1, 99], 'AF_UNIX, a protocol that is for the kernel to judge'),
  allow('socket', [2, 1 | CLOEXEC, 0], 'TCP'),
  allow('socket', [2, 2, 17], 'UDP'),
  allow('socket', [10, 1, 6], 'TCP over IPv6'),
  allow('socket', [2, 2, 1], 'unprivileged ping'),
  allow('socket', [16, 3 | CLOEXEC, 0], 'NETLINK_ROUTE'),
  allow('socketpair', [1, 1, 0, 0], 'AF_UNIX'),
  allow('setsockopt', [-1, 6, 1, 0, 0], 'TCP_NODELAY'),
  allow('setsockopt', [-1, 1, 31, 0, 0], 'option 31 of another level'),
  allow('personality', [0xffffffff], 'query'),
  allow('personality', [0], 'PER_LINUX'),
  allow('personality', [8], 'PER_LINUX32'),
  allow('personality', [0x40000], 'ADDR_NO_RANDOMIZE'),
];

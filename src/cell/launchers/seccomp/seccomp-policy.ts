/**
 * What a cell may not ask of the kernel. The policy allows everything else: compilers, interpreters, package managers
 * and browsers use most of the rest. A refusal answers with an error that programs already cope with: the one of a
 * kernel built without the feature, or of a user without the privilege.
 */
import type { SyscallName } from './syscalls.js';

export const errnos = {
  EPERM: 1,
  ENOENT: 2,
  ENOSYS: 38,
  EPROTONOSUPPORT: 93,
  ESOCKTNOSUPPORT: 94,
  EOPNOTSUPP: 95,
  EAFNOSUPPORT: 97,
} as const;

export type Errno = keyof typeof errnos;

export interface SeccompOptions {
  /** Allows debuggers and tracers (gdb, strace, LeakSanitizer) on processes of the same cell. Default false. */
  readonly ptrace?: boolean;
  /** Allows creating files with the set-user-id bit. Default false. */
  readonly setuidFiles?: boolean;
  /** Allows the set-group-id bit, which directories hand their group down by. Default false. */
  readonly setgidFiles?: boolean;
}

/**
 * A test on one argument. Only its low 32 bits count unless `word` says otherwise, because that is all the kernel
 * reads of an `int`: a 64-bit comparison would let `0x1_0000_5412` through as something other than TIOCSTI.
 */
export type ArgumentTest = {
  readonly argument: 0 | 1 | 2 | 3 | 4 | 5;
  readonly word?: 'low' | 'high';
} & (
  | { readonly anyBitOf: number }
  | { readonly oneOf: readonly number[]; readonly mask?: number }
  | { readonly noneOf: readonly number[]; readonly mask?: number }
);

/** Refuses `calls`; with `when`, only if all its tests hold. The first rule that matches answers. */
export interface Rule {
  readonly calls: readonly SyscallName[];
  readonly when?: readonly ArgumentTest[];
  readonly answer: Errno;
  /** The option that lifts this rule. */
  readonly unless?: keyof SeccompOptions;
  readonly because: string;
}

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. In clone(), 0x80 is a signal bit, not NEWTIME. */
const CLONE_NAMESPACES = 0x7e020000;
/** CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM: what unshare() takes besides namespaces. */
const UNSHARE_HARMLESS = 0x00050f00;
const ALL_BITS = 0xffffffff;

const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const TIOCCONS = 0x541d;
const TIOCSETD = 0x5423;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;
const SOCK_PACKET = 10;
/** The bits above carry SOCK_CLOEXEC and SOCK_NONBLOCK. */
const SOCK_TYPE_MASK = 0xf;
const IPPROTO_DEFAULT = 0;
const IPPROTO_ICMP = 1;
const IPPROTO_TCP = 6;
const IPPROTO_UDP = 17;
const IPPROTO_ICMPV6 = 58;
const NETLINK_ROUTE = 0;
const TCP_ULP = 31;

const S_IFMT = 0xf000;
const S_IFCHR = 0x2000;
const S_IFBLK = 0x6000;
const S_ISUID = 0o4000;
const S_ISGID = 0o2000;
/** O_CREAT and the bit that makes O_TMPFILE: without either the mode argument is whatever the register held. */
const CREATES_FILE = 0x400040;
const RENAME_WHITEOUT = 4;

const PER_LINUX = 0;
const PER_LINUX32 = 0x8;
const UNAME26 = 0x20000;
const ADDR_NO_RANDOMIZE = 0x40000;
const PERSONALITY_QUERY = 0xffffffff;

/** Every call that gives a file its mode. Creating a directory sets no such bit. */
function setIdRules(bit: number, unless: keyof SeccompOptions, because: string): Rule[] {
  const mode = (argument: ArgumentTest['argument']): ArgumentTest => ({ argument, anyBitOf: bit });
  const creates = (argument: ArgumentTest['argument']): ArgumentTest => ({
    argument,
    anyBitOf: CREATES_FILE,
  });
  const common = { answer: 'EPERM', unless, because } as const;
  return [
    { calls: ['chmod', 'fchmod', 'creat', 'mknod'], when: [mode(1)], ...common },
    { calls: ['fchmodat', 'fchmodat2', 'mknodat'], when: [mode(2)], ...common },
    { calls: ['open'], when: [creates(1), mode(2)], ...common },
    { calls: ['openat'], when: [creates(2), mode(3)], ...common },
  ];
}

export const rules: readonly Rule[] = [
  // Namespaces: a new user namespace hands out every capability, and with it most of the kernel's attack surface.
  {
    calls: ['clone3'],
    answer: 'ENOSYS',
    because: 'its flags sit behind a pointer where no filter can see them; libc falls back to clone',
  },
  {
    calls: ['clone'],
    when: [{ argument: 0, anyBitOf: CLONE_NAMESPACES }],
    answer: 'EPERM',
    because: 'a child in new namespaces would have capabilities there',
  },
  {
    calls: ['unshare'],
    when: [{ argument: 0, anyBitOf: (ALL_BITS & ~UNSHARE_HARMLESS) >>> 0 }],
    answer: 'EPERM',
    because: 'as clone; an allow-list, so that flags of later kernels are refused too',
  },
  {
    calls: ['unshare'],
    when: [{ argument: 0, word: 'high', anyBitOf: ALL_BITS }],
    answer: 'EPERM',
    because: 'the argument is 64 bits wide and the low word is full: later namespaces can only live up here',
  },
  { calls: ['setns'], answer: 'EPERM', because: 'joins the namespaces of another process' },

  // The file system tree stays as the launcher made it.
  {
    calls: ['mount', 'umount2', 'pivot_root', 'chroot'],
    answer: 'EPERM',
    because: 'could uncover what a mount hides',
  },
  {
    calls: [
      'move_mount',
      'open_tree',
      'open_tree_attr',
      'fsopen',
      'fsconfig',
      'fsmount',
      'fspick',
      'mount_setattr',
    ],
    answer: 'EPERM',
    because: 'the descriptor-based mount calls do the same',
  },
  {
    calls: ['open_by_handle_at'],
    answer: 'EPERM',
    because: 'opens by inode number, outside every mount boundary (the "shocker" escape)',
  },
  {
    calls: ['name_to_handle_at'],
    answer: 'EOPNOTSUPP',
    because: 'makes those handles; callers expect this answer from file systems without them',
  },
  {
    calls: ['mknod'],
    when: [{ argument: 1, mask: S_IFMT, oneOf: [S_IFCHR, S_IFBLK] }],
    answer: 'EPERM',
    because: 'device nodes, and overlay whiteouts, which need no privilege; FIFOs and sockets stay',
  },
  {
    calls: ['mknodat'],
    when: [{ argument: 2, mask: S_IFMT, oneOf: [S_IFCHR, S_IFBLK] }],
    answer: 'EPERM',
    because: 'as mknod',
  },
  {
    calls: ['renameat2'],
    when: [{ argument: 4, anyBitOf: RENAME_WHITEOUT }],
    answer: 'EPERM',
    because: 'leaves an overlay whiteout, a device node, behind',
  },
  {
    calls: ['fanotify_init'],
    answer: 'EPERM',
    because: 'watches, and can block, file access of others; inotify stays',
  },
  {
    calls: ['quotactl', 'quotactl_fd', 'acct'],
    answer: 'EPERM',
    because: 'administers the file systems of the host',
  },

  // Set-id files: the workspace is a directory of the host, where the cell's no_new_privs does not reach.
  ...setIdRules(S_ISUID, 'setuidFiles', 'any host user could run such a file as the owner of the workspace'),
  ...setIdRules(S_ISGID, 'setgidFiles', 'as set-user-id, with the group of the workspace'),
  {
    calls: ['openat2'],
    answer: 'ENOSYS',
    unless: 'setuidFiles',
    because: 'its mode sits behind a pointer; callers fall back to openat',
  },

  // Terminals. The shell shares its terminal with the side outside, which reads and answers it.
  {
    calls: ['ioctl'],
    when: [{ argument: 1, oneOf: [TIOCSTI, TIOCLINUX] }],
    answer: 'EPERM',
    because: 'type into the terminal on behalf of whoever reads it',
  },
  {
    calls: ['ioctl'],
    when: [{ argument: 1, oneOf: [TIOCSETD, TIOCCONS] }],
    answer: 'EPERM',
    because: 'load line disciplines, a steady source of kernel holes; redirect the console',
  },
  { calls: ['vhangup'], answer: 'EPERM', because: 'takes the terminal from everybody who has it open' },

  // Other processes.
  {
    calls: ['ptrace', 'process_vm_readv', 'process_vm_writev', 'pidfd_getfd', 'kcmp'],
    answer: 'EPERM',
    unless: 'ptrace',
    because: 'reach into the process that starts the others in a cell',
  },

  // Kernel subsystems that are rich in holes and that no tool of an agent needs.
  {
    calls: ['io_uring_setup', 'io_uring_enter', 'io_uring_register'],
    answer: 'ENOSYS',
    because: 'runs operations that no filter sees; libuv and others fall back as on a kernel without it',
  },
  { calls: ['bpf'], answer: 'EPERM', because: 'loads programs into the kernel' },
  { calls: ['perf_event_open'], answer: 'EPERM', because: 'watches the whole machine; often exploited' },
  {
    calls: ['userfaultfd'],
    answer: 'EPERM',
    because: 'stops the kernel mid-copy, the tool of many exploits',
  },
  {
    calls: ['add_key', 'request_key', 'keyctl'],
    answer: 'EPERM',
    because: 'keyrings are not per container; they leak between cells of one user',
  },

  // Sockets: each family, type and protocol is kernel code that loads on first use, without privilege.
  {
    calls: ['socket', 'socketpair'],
    when: [{ argument: 0, noneOf: [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] }],
    answer: 'EAFNOSUPPORT',
    because: 'AF_PACKET, AF_VSOCK, AF_ALG, AF_RXRPC, AF_TIPC and the like; an allow-list covers later ones',
  },
  {
    calls: ['socket'],
    when: [
      { argument: 0, oneOf: [AF_NETLINK] },
      { argument: 2, noneOf: [NETLINK_ROUTE] },
    ],
    answer: 'EPROTONOSUPPORT',
    because:
      'netfilter, audit, xfrm; libaudit (useradd, dpkg) takes this answer as "no audit here" and goes on',
  },
  {
    calls: ['socket'],
    when: [
      { argument: 0, oneOf: [AF_INET, AF_INET6] },
      { argument: 1, mask: SOCK_TYPE_MASK, oneOf: [SOCK_RAW, SOCK_PACKET] },
    ],
    answer: 'EPERM',
    because: 'raw packets; the answer of a kernel to a user without the capability',
  },
  {
    calls: ['socket'],
    when: [
      { argument: 0, oneOf: [AF_INET, AF_INET6] },
      { argument: 1, mask: SOCK_TYPE_MASK, noneOf: [SOCK_STREAM, SOCK_DGRAM] },
    ],
    answer: 'ESOCKTNOSUPPORT',
    because: 'DCCP and SCTP',
  },
  {
    calls: ['socket'],
    when: [
      { argument: 0, oneOf: [AF_INET, AF_INET6] },
      { argument: 2, noneOf: [IPPROTO_DEFAULT, IPPROTO_ICMP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6] },
    ],
    answer: 'EPROTONOSUPPORT',
    because: 'SCTP, L2TP, SMC, MPTCP (Go falls back to TCP on this answer)',
  },
  {
    calls: ['setsockopt'],
    when: [
      { argument: 1, oneOf: [IPPROTO_TCP] },
      { argument: 2, oneOf: [TCP_ULP] },
    ],
    answer: 'ENOENT',
    because: 'puts kernel TLS and the like under a socket; the answer of a kernel that has none',
  },

  // The machine.
  {
    calls: ['init_module', 'finit_module', 'delete_module', 'kexec_load', 'kexec_file_load', 'reboot'],
    answer: 'EPERM',
    because: 'replaces or extends the running kernel',
  },
  { calls: ['swapon', 'swapoff'], answer: 'EPERM', because: 'administers the memory of the host' },
  {
    calls: ['settimeofday', 'clock_settime', 'clock_adjtime', 'adjtimex'],
    answer: 'EPERM',
    because: 'the clock belongs to the whole machine',
  },
  { calls: ['syslog'], answer: 'EPERM', because: "the kernel's log tells addresses and what others do" },
  { calls: ['sethostname', 'setdomainname'], answer: 'EPERM', because: 'the name is the launcher’s to give' },
  { calls: ['iopl', 'ioperm'], answer: 'EPERM', because: 'gives access to hardware ports' },
  {
    calls: ['modify_ldt', 'uselib', 'nfsservctl', 'lookup_dcookie'],
    answer: 'EPERM',
    because: 'relics with a history of holes',
  },
  {
    calls: ['personality'],
    when: [
      {
        argument: 0,
        noneOf: [
          PER_LINUX,
          PER_LINUX32,
          UNAME26,
          UNAME26 | PER_LINUX32,
          ADDR_NO_RANDOMIZE,
          PERSONALITY_QUERY,
        ],
      },
    ],
    answer: 'EPERM',
    because:
      'odd personalities switch protections off; gdb and ThreadSanitizer need ADDR_NO_RANDOMIZE for themselves',
  },
];

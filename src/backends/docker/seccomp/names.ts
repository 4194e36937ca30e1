/**
 * System calls that a container may make, besides those that the policy judges by their arguments. This is an
 * allow-list: an engine skips names that it does not know, and what is missing here must stay refused.
 *
 * It holds the calls of Linux up to 6.18 on x86-64 and arm64. It leaves out calls that the policy refuses, calls that
 * need privileges, calls that place memory on nodes of the machine, and relics.
 */
export const allowedNames: readonly string[] = `
  accept accept4 access alarm arch_prctl bind brk cachestat capget capset chdir chown clock_getres clock_gettime
  clock_nanosleep close close_range connect copy_file_range dup dup2 dup3 epoll_create epoll_create1 epoll_ctl
  epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 execve execveat exit exit_group
  faccessat faccessat2 fadvise64 fallocate fchdir fchown fchownat fcntl fdatasync fgetxattr file_getattr file_setattr
  flistxattr flock fork fremovexattr fsetxattr fstat fstatfs fsync ftruncate futex futex_requeue futex_wait
  futex_waitv futex_wake futimesat getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer
  getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit get_robust_list
  getrusage getsid getsockname getsockopt get_thread_area gettid gettimeofday getuid getxattr getxattrat
  inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy io_getevents io_pgetevents
  ioprio_get ioprio_set io_setup io_submit kill landlock_add_rule landlock_create_ruleset landlock_restrict_self
  lchown lgetxattr link linkat listen listmount listxattr listxattrat llistxattr lremovexattr lseek lsetxattr
  lsm_get_self_attr lsm_list_modules lsm_set_self_attr lstat madvise map_shadow_stack membarrier memfd_create
  memfd_secret mincore mkdir mkdirat mlock mlock2 mlockall mmap mprotect mq_getsetattr mq_notify mq_open
  mq_timedreceive mq_timedsend mq_unlink mremap mseal msgctl msgget msgrcv msgsnd msync munlock munlockall munmap
  nanosleep newfstatat pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll
  prctl pread64 preadv preadv2 prlimit64 process_madvise process_mrelease pselect6 pwrite64 pwritev pwritev2 read
  readahead readlink readlinkat readv recvfrom recvmmsg recvmsg remap_file_pages removexattr removexattrat rename
  renameat restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn
  rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_getaffinity sched_getattr sched_getparam
  sched_get_priority_max sched_get_priority_min sched_getscheduler sched_rr_get_interval sched_setaffinity
  sched_setattr sched_setparam sched_setscheduler sched_yield seccomp select semctl semget semop semtimedop sendfile
  sendmmsg sendmsg sendto setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid setresgid
  setresuid setreuid setrlimit set_robust_list setsid set_thread_area set_tid_address setuid setxattr setxattrat
  shmat shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 splice stat statfs statmount statx symlink
  symlinkat sync sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete timerfd_create
  timerfd_gettime timerfd_settime timer_getoverrun timer_gettime timer_settime times tkill truncate umask uname
  unlink unlinkat uretprobe utime utimensat utimes vfork vmsplice wait4 waitid write writev
`
  .trim()
  .split(/\s+/);

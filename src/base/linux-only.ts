/** What to do where the kernel is not Linux. */
export const linuxAdvice =
  'Run Workcell in a Linux on this machine (WSL 2, or a virtual machine), or use a Linux machine elsewhere with "remote" or "service".';

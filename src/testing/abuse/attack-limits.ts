const mebibyte = 1024 * 1024;

/** Limits of every cell under attack: what a hog can take from the machine if they hold. */
export const attackLimits = {
  memoryBytes: 256 * mebibyte,
  pids: 128,
  cpus: 1,
  diskBytes: 64 * mebibyte,
  openFiles: 256,
} as const;

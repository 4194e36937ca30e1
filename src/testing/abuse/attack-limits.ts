const mebibyte = 1024 * 1024;

/** Bounds of every cell under attack: what a hog can take from the machine if the limits hold. */
export const attackLimits = {
  memoryBytes: 256 * mebibyte,
  pids: 128,
  cpus: 1,
  diskBytes: 64 * mebibyte,
  openFiles: 256,
} as const;

/** Where the driver of NVIDIA cards has its files on a machine. */

export interface GpuRoots {
  readonly dev: string;
  readonly proc: string;
  /** The cache of the dynamic linker. */
  readonly linkerCache: string;
  /** Directories with libraries of the driver that may be missing in the cache. */
  readonly libraries: readonly string[];
  /** Directories with its tools. */
  readonly programs: readonly string[];
  /** Directories that every cell without its own root file system sees. */
  readonly shown: readonly string[];
}

export const machineRoots: GpuRoots = {
  dev: '/dev',
  proc: '/proc',
  linkerCache: '/etc/ld.so.cache',
  libraries: [
    '/usr/local/nvidia/lib64',
    '/usr/local/nvidia/lib',
    '/usr/lib64/nvidia',
    '/usr/lib64',
    '/usr/lib',
    '/run/opengl-driver/lib',
  ],
  programs: ['/usr/bin', '/usr/local/bin', '/usr/local/nvidia/bin', '/run/current-system/sw/bin', '/opt/bin'],
  shown: ['/usr', '/opt', '/lib', '/lib32', '/lib64'],
};

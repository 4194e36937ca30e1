/** A machine with NVIDIA cards, as files: device nodes, what the driver tells, libraries and tools. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { GpuRoots } from '../../../../src/backends/sandbox/gpu/gpu-roots.js';
import { quote } from '../../../../src/base/shell-quote.js';

export interface FakeMachine extends Disposable {
  readonly path: string;
  readonly roots: GpuRoots;
  write(name: string, content: string | Buffer, mode?: number): void;
  link(name: string, target: string): void;
  nodes(...wanted: readonly (readonly [name: string, major: number, minor: number])[]): void;
  remove(name: string): void;
}

export const ids = { first: 'GPU-00000000-aaaa', second: 'GPU-11111111-bbbb' } as const;

/**
 * Two cards. Their nodes are those of `/dev/zero` and `/dev/null`, so that a test can open them; on the bus the one with
 * the higher number comes first.
 */
export function fakeMachine(): FakeMachine {
  const machine = emptyMachine();
  machine.write(
    'proc/devices',
    'Character devices:\n  1 mem\n  1 nvidia-frontend\n  7 nvidia-uvm\n  9 nvidia-caps\n\nBlock devices:\n 66 nvidia-uvm\n',
  );
  machine.write('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Kernel Module  580.1.2  Release\n');
  machine.write('proc/driver/nvidia/params', 'ModifyDeviceFiles: 1\n');
  machine.write('proc/driver/nvidia/suspend', 'steers the driver\n');
  machine.write('proc/driver/nvidia/gpus/0000:01:00.0/information', information('First', ids.first, 5));
  machine.write('proc/driver/nvidia/gpus/0000:02:00.0/information', information('Second', ids.second, 3));
  machine.nodes(
    ['dev/nvidia5', 1, 5],
    ['dev/nvidia3', 1, 3],
    ['dev/nvidiactl', 1, 255],
    ['dev/nvidia-uvm', 7, 0],
  );
  machine.write('lib/libcuda.so.580.1.2', library());
  machine.link('lib/libcuda.so.1', 'libcuda.so.580.1.2');
  machine.write('lib/libnvidia-ml.so.1', library());
  machine.write('lib/libother.so.1', library());
  machine.write(
    'bin/nvidia-smi',
    '#!/bin/sh\necho "seen: $NVIDIA_VISIBLE_DEVICES $CUDA_VISIBLE_DEVICES"\n',
    0o755,
  );
  machine.write('ld.so.cache', `glibc\0libcuda.so.1\0${machine.path}/lib/libcuda.so.1\0`);
  return machine;
}

export function emptyMachine(): FakeMachine {
  const path = mkdtempSync(join(tmpdir(), 'gpu-machine-'));
  const at = (name: string) => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    return join(path, name);
  };
  return {
    path,
    roots: {
      dev: join(path, 'dev'),
      proc: join(path, 'proc'),
      linkerCache: join(path, 'ld.so.cache'),
      libraries: [],
      programs: [],
      shown: [],
    },
    write: (name, content, mode = 0o644) => writeFileSync(at(name), content, { mode }),
    link: (name, target) => symlinkSync(target, at(name)),
    nodes(...wanted) {
      const source = wanted.map(
        ([name, major, minor]) => `mknod -m 666 ${quote(at(name))} c ${major} ${minor}`,
      );
      execFileSync('sh', ['-ec', source.join('\n')]);
    },
    remove: (name) => rmSync(join(path, name), { recursive: true }),
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  };
}

/** The beginning of a shared library of this architecture, or of another. */
export function library(machine = process.arch === 'arm64' ? 183 : 62): Buffer {
  const header = Buffer.alloc(64);
  header.write('\x7fELF', 'latin1');
  header.writeUInt16LE(machine, 18);
  return header;
}

function information(model: string, uuid: string, minor: number): string {
  return `Model: \t\t ${model}\nGPU UUID: \t ${uuid}\nDevice Minor: \t ${minor}\nGPU Excluded:\t No\n`;
}

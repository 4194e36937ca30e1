import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findCards } from '../../../../src/backends/sandbox/gpu/cards.js';
import { cachedPaths } from '../../../../src/backends/sandbox/gpu/driver-files.js';
import { giveGpu } from '../../../../src/backends/sandbox/gpu/give-gpu.js';
import { emptyMachine, fakeMachine, ids, library } from './fake-machine.js';

const refused = (message: RegExp) =>
  expect.objectContaining({ code: 'invalid-config', message: expect.stringMatching(message) });

describe('cards', () => {
  test('are counted in the order of the bus, as nvidia-smi does', () => {
    using machine = fakeMachine();
    const { version, cards } = findCards(machine.roots);
    expect(version).toBe('580.1.2');
    expect(cards.map(({ index, minor, uuid, model }) => [index, minor, uuid, model])).toEqual([
      [0, 5, ids.first, 'First'],
      [1, 3, ids.second, 'Second'],
    ]);
  });

  test('that tell nothing are found by their nodes', () => {
    using machine = fakeMachine();
    machine.remove('proc/driver/nvidia/gpus');
    expect(findCards(machine.roots).cards.map(({ index, minor }) => [index, minor])).toEqual([
      [0, 3],
      [1, 5],
    ]);
  });

  test.each(['a link', 'a file', 'a node of another driver', 'a node of another card'])(
    'are not: %s',
    (what) => {
      using machine = fakeMachine();
      if (what === 'a link') machine.link('dev/nvidia7', '/dev/zero');
      if (what === 'a file') machine.write('dev/nvidia7', '');
      if (what === 'a node of another driver') machine.nodes(['dev/nvidia7', 8, 7]);
      if (what === 'a node of another card') machine.nodes(['dev/nvidia7', 1, 3]);
      expect(findCards(machine.roots).cards).toHaveLength(2);
    },
  );
});

describe('a request', () => {
  test('for all gives every card and what all of them need', () => {
    using machine = fakeMachine();
    const { gpus, devices, environment } = giveGpu(true, machine);
    expect(gpus).toEqual([ids.first, ids.second]);
    expect(devices.map(({ inside }) => inside)).toEqual([
      '/dev/nvidiactl',
      '/dev/nvidia-uvm',
      '/dev/nvidia5',
      '/dev/nvidia3',
    ]);
    expect(environment({})).toMatchObject({ NVIDIA_VISIBLE_DEVICES: 'all' });
    expect(environment({})).not.toHaveProperty('CUDA_VISIBLE_DEVICES');
  });

  test.each([
    [1, [ids.first], '0'],
    [[1], [ids.second], '0'],
    [['1', ids.first, 1], [ids.second, ids.first], '0,1'],
  ])('for %j gives those alone', (request, given, numbers) => {
    using machine = fakeMachine();
    const { gpus, devices, driverInfo, environment } = giveGpu(request, machine);
    expect(gpus).toEqual(given);
    expect(devices.filter(({ inside }) => /nvidia\d/.test(inside))).toHaveLength(given.length);
    expect(driverInfo?.filter(({ inside }) => inside.includes('/gpus/'))).toHaveLength(given.length);
    expect(environment({})).toMatchObject({
      NVIDIA_VISIBLE_DEVICES: given.join(),
      CUDA_VISIBLE_DEVICES: numbers,
    });
    expect(environment({ CUDA_VISIBLE_DEVICES: '' })).toMatchObject({ CUDA_VISIBLE_DEVICES: '' });
  });

  test.each([
    [3, /3 are asked for, and there are 2: 0 First GPU-0/],
    [['2'], /none with the id "2".*1 Second GPU-1/],
    [['GPU-0'], /none with the id "GPU-0"/],
  ])('for %j, which the machine does not have, says what it has', (request, message) => {
    using machine = fakeMachine();
    expect(() => giveGpu(request, machine)).toThrow(refused(message));
  });

  test('for a divided card gives the nodes of its parts, and not those that divide it', () => {
    using machine = fakeMachine();
    const capabilities = 'proc/driver/nvidia/capabilities';
    machine.write(`${capabilities}/mig/config`, 'DeviceFileMinor: 1\n');
    machine.write(`${capabilities}/gpu5/mig/gi1/access`, 'DeviceFileMinor: 12\n');
    machine.write(`${capabilities}/gpu5/mig/gi1/ci0/access`, 'DeviceFileMinor: 13\n');
    machine.write(`${capabilities}/gpu3/mig/gi1/access`, 'DeviceFileMinor: 14\n');
    machine.nodes(...[1, 12, 13, 14].map((cap) => [`dev/nvidia-caps/nvidia-cap${cap}`, 9, cap] as const));
    const { devices } = giveGpu(1, machine);
    expect(devices.filter(({ inside }) => inside.includes('cap')).map(({ inside }) => inside)).toEqual([
      '/dev/nvidia-caps/nvidia-cap12',
      '/dev/nvidia-caps/nvidia-cap13',
    ]);
  });

  test('for none hides what the driver tells, where there is one', () => {
    using machine = fakeMachine();
    expect(giveGpu(false, machine)).toMatchObject({ gpus: [], devices: [], files: [], driverInfo: [] });
    using none = emptyMachine();
    expect(giveGpu(false, none).driverInfo).toBeUndefined();
  });
});

describe('what is missing is said, with what helps', () => {
  test('a card', () => {
    using machine = emptyMachine();
    expect(() => giveGpu(true, machine)).toThrow(
      refused(/no NVIDIA card.*Install the driver.*leave gpu out/),
    );
  });

  test.each(['dev/nvidiactl', 'dev/nvidia-uvm'])('the node %s, also where a link has its name', (name) => {
    using machine = fakeMachine();
    machine.remove(name);
    expect(() => giveGpu(true, machine)).toThrow(refused(new RegExp(`${name} .*missing.*nvidia-modprobe`)));
    machine.link(name, '/dev/zero');
    expect(() => giveGpu(true, machine)).toThrow(refused(/missing/));
  });

  test('the libraries of this architecture', () => {
    using machine = fakeMachine();
    machine.write('lib/libcuda.so.580.1.2', library(3));
    expect(() => giveGpu(true, machine)).toThrow(refused(/no libcuda\.so\.1.*Install the libraries/));
  });
});

describe('files of the driver', () => {
  const smi = '/run/workcell-gpu/bin/nvidia-smi';

  test('that the cell does not see anyway get a place of their own', () => {
    using machine = fakeMachine();
    const { files, environment } = giveGpu(true, machine);
    const at = (name: string) => join(machine.path, name);
    expect(files.toSorted((a, b) => (a.inside < b.inside ? -1 : 1))).toEqual([
      { source: at('bin/nvidia-smi'), inside: smi },
      { source: at('lib/libcuda.so.580.1.2'), inside: '/run/workcell-gpu/lib/libcuda.so.1' },
      { source: at('lib/libcuda.so.580.1.2'), inside: '/run/workcell-gpu/lib/libcuda.so.580.1.2' },
      { source: at('lib/libnvidia-ml.so.1'), inside: '/run/workcell-gpu/lib/libnvidia-ml.so.1' },
    ]);
    expect(environment({ PATH: '/bin', LD_LIBRARY_PATH: '/mine' })).toMatchObject({
      PATH: '/bin:/run/workcell-gpu/bin',
      LD_LIBRARY_PATH: '/mine:/run/workcell-gpu/lib',
    });
  });

  test('that the cell sees anyway stay where they are, in its paths if programs would not find them', () => {
    using machine = fakeMachine();
    const roots = { ...machine.roots, shown: [machine.path] };
    const at = (name: string) => join(machine.path, name);
    const seen = giveGpu(true, { roots });
    expect(seen.files).toEqual([]);
    expect(seen.environment({ PATH: '/bin' })).toEqual({
      NVIDIA_VISIBLE_DEVICES: 'all',
      PATH: `/bin:${at('bin')}`,
    });
    const unknown = giveGpu(true, { roots: { ...roots, linkerCache: '/none', libraries: [at('lib')] } });
    expect(unknown.files).toEqual([]);
    expect(unknown.environment({})).toMatchObject({ LD_LIBRARY_PATH: at('lib') });
    // With another system around them they are not there.
    expect(giveGpu(true, { roots, rootfs: '/other' }).files).toHaveLength(4);
  });

  test('are found in the places of the driver when the linker does not know them', () => {
    using machine = fakeMachine();
    machine.remove('ld.so.cache');
    expect(() => giveGpu(true, machine)).toThrow(refused(/libcuda/));
    const roots = { ...machine.roots, libraries: [join(machine.path, 'lib')] };
    expect(giveGpu(true, { roots }).files.length).toBeGreaterThan(0);
  });

  test('are none that links lead to and that are not of the driver, nor ones that others can write', () => {
    using machine = fakeMachine();
    machine.link('lib/libnvidia-opencl.so.1', '/etc/shadow');
    machine.link('lib/libnvidia-nvvm.so.4', '/bin/sh');
    machine.write('lib/libnvidia-cfg.so.1', library());
    execFileSync('chmod', ['666', join(machine.path, 'lib/libnvidia-cfg.so.1')]);
    machine.remove('bin/nvidia-smi');
    machine.link('bin/nvidia-smi', '/etc/shadow');
    const inside = giveGpu(true, machine).files.map((file) => file.inside);
    expect(inside.filter((path) => /opencl|nvvm|cfg|smi/.test(path))).toEqual([]);
    expect(inside).toContain('/run/workcell-gpu/lib/libcuda.so.1');
  });

  test("the linker's cache is read as ldconfig reads it", () => {
    const listed = execFileSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' });
    const expected = [...listed.matchAll(/^\tlibc\.so\.6 .* => (.*)$/gm)].map(([, path]) => path);
    expect(expected.length).toBeGreaterThan(0);
    expect(cachedPaths('/etc/ld.so.cache', 'libc.so.6').toSorted()).toEqual(expected.toSorted());
  });
});

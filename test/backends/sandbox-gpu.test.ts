import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { GpuRequest } from '../../src/backends/gpu-option.js';
import type { SandboxOptions } from '../../src/backends/sandbox/sandbox-options.js';
import { startSandbox } from '../../src/backends/sandbox/start-sandbox.js';
import sandbox from '../../src/backends/sandbox.js';
import { createRuntime } from '../../src/index.js';
import { findFact, isEnforced, parseAction } from '../../src/protocol/index.js';
import { builtFile } from '../built-file.js';
import { type FakeMachine, fakeMachine, ids } from './sandbox/gpu/fake-machine.js';

/** A real cell on a machine with fake cards. */
async function start(gpu: GpuRequest, { roots }: FakeMachine) {
  const { executor, isolation, stop } = await startSandbox(sandbox.options.parse({ gpu }) as SandboxOptions, {
    gpuRoots: roots,
  });
  const run = async (command: string) => {
    const observation = await executor.execute(parseAction({ action: 'run', command }));
    return (observation as { output: string }).output;
  };
  return { isolation, run, [Symbol.asyncDispose]: stop };
}

test('a cell has the cards it was given and no other, and cannot steer their driver', async () => {
  using machine = fakeMachine();
  await using cell = await start([0], machine);
  // The node of this card is that of /dev/zero.
  const seen = await cell.run(
    'head -c 2 /dev/nvidia5 | od -An -tx1; ls /dev | grep nvidia; nvidia-smi; grep -h UUID /proc/driver/nvidia/gpus/*/information; ls -1 /proc/driver/nvidia',
  );
  expect(seen.split('\n').map((line) => line.trim())).toEqual([
    '00 00',
    'nvidia-uvm',
    'nvidia5',
    'nvidiactl',
    `seen: ${ids.first} 0`,
    expect.stringMatching(new RegExp(`^GPU UUID:.*${ids.first}$`)),
    'gpus',
    'params',
    'version',
    '',
  ]);
  const written = await cell.run(
    'echo x >/proc/driver/nvidia/params; touch /proc/driver/x /dev/nvidia3 /run/workcell-gpu/lib/x; echo x >/run/workcell-gpu/lib/libcuda.so.1',
  );
  expect(written.match(/Read-only file system/g)).toHaveLength(5);
  expect(isEnforced(cell.isolation, 'devices')).toBe(false);
  expect(findFact(cell.isolation, 'devices')?.values).toEqual({ gpus: [ids.first] });
});

test('a cell without one sees nothing of the cards of its machine', async () => {
  using machine = fakeMachine();
  await using cell = await start(false, machine);
  const seen = await cell.run(
    'ls /dev | grep -c nvidia; ls -A /proc/driver | wc -l; env | grep -c NVIDIA; ls /run/workcell-gpu',
  );
  expect(seen).toMatch(/^0\n0\n0\n.*No such file/);
  expect(isEnforced(cell.isolation, 'devices')).toBe(true);
});

test('a plain user gets those that the nodes let him open, and is told what helps with others', () => {
  using machine = fakeMachine();
  chmodSync(machine.path, 0o755);
  chmodSync(join(machine.path, 'dev/nvidia3'), 0o660);
  const source = `
    const { giveGpu } = await import(${JSON.stringify(builtFile('backends/sandbox/gpu/give-gpu.js'))});
    const roots = ${JSON.stringify(machine.roots)};
    console.log(giveGpu([0], { roots }).gpus.join());
    try { giveGpu(true, { roots }) } catch (error) { console.log(error.code, error.message) }`;
  const nobody = { uid: 65_534, gid: 65_534, cwd: '/', encoding: 'utf8' } as const;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', source], nobody);
  expect(said).toMatch(
    new RegExp(`^${ids.first}\\ninvalid-config .*you may not open ${machine.path}/dev/nvidia3.*group`),
  );
});

test.each(['cli', 'local', 'remote'])(
  'backend %s, which cannot give any, refuses by name',
  async (backend) => {
    const starting = createRuntime({ config: false, backend, gpu: true } as never);
    await expect(starting).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringContaining('"gpu"'),
    });
  },
);

/** The cards of this machine in a cell; on a machine without one, the error that says what is missing. */
import { expect, test } from 'vitest';
import { findCards } from '../../src/backends/sandbox/gpu/cards.js';
import { createRuntime } from '../../src/index.js';

const { cards } = findCards();

/** Talks to the driver alone, so that the machine needs neither CUDA nor a library on top of it. */
const copiesThroughTheCard = `
import ctypes
cuda = ctypes.CDLL('libcuda.so.1')
def call(name, *values):
    code = getattr(cuda, name)(*values)
    assert code == 0, f'{name} answers {code}'
context, memory, size = ctypes.c_void_p(), ctypes.c_uint64(), 1 << 28
there, back = ctypes.create_string_buffer(b'over the card', size), ctypes.create_string_buffer(size)
call('cuInit', 0)
call('cuCtxCreate_v2', ctypes.byref(context), 0, 0)
call('cuMemAlloc_v2', ctypes.byref(memory), ctypes.c_size_t(size))
call('cuMemcpyHtoD_v2', memory, there, ctypes.c_size_t(size))
call('cuMemcpyDtoH_v2', back, memory, ctypes.c_size_t(size))
print(back.value.decode(), flush=True)
`;

if (cards.length === 0) {
  test('on a machine without a card the error says what is missing', async () => {
    await expect(createRuntime({ config: false, backend: 'sandbox', gpu: true })).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringMatching(/NVIDIA/),
    });
  });
} else {
  test('a cell sees the cards of this machine, and one without none of them', async () => {
    await using runtime = await createRuntime({ config: false, backend: 'sandbox', gpu: true });
    const { output } = await runtime.run('nvidia-smi -L');
    for (const { uuid } of cards) expect(output).toContain(uuid);
    await using without = await createRuntime({ config: false, backend: 'sandbox' });
    expect((await without.run('nvidia-smi -L; ls /dev | grep -c nvidia')).output).toMatch(/^0$/m);
  });

  test('a program works on the card, and a time limit ends one that holds it', async () => {
    await using runtime = await createRuntime({ config: false, backend: 'sandbox', gpu: 1 });
    await runtime.write('copy.py', copiesThroughTheCard);
    expect((await runtime.run('python3 copy.py')).output).toBe('over the card\n');
    await runtime.write('hold.py', `${copiesThroughTheCard}\nimport signal\nsignal.pause()\n`);
    const held = await runtime.run('python3 hold.py', { timeoutMs: 10_000 });
    expect(held).toMatchObject({ endedBy: 'timeout' });
    const { output } = await runtime.run('nvidia-smi --query-compute-apps=name --format=csv,noheader');
    expect(output).not.toContain('python3');
  });
}

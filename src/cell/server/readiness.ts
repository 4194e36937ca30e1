/** Whether each capability of the cell works, which it finds out by using it. */
import { type Capability, type Executor, WorkcellError } from '../../protocol/index.js';
import type { Readiness } from '../../protocol/wire.js';

/** Probing starts programs, so an answer holds for a while: longer when all is well. */
const readyHoldsMs = 10_000;
const unreadyHoldsMs = 1000;

export function createReadinessProbe(executor: () => Executor): () => Promise<Readiness> {
  let last: { at: number; answer: Promise<Readiness>; holdsMs: number } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.at > last.holdsMs) {
      const probe = { at: performance.now(), answer: probeAll(executor()), holdsMs: unreadyHoldsMs };
      void probe.answer.then(({ ready }) => {
        if (ready) probe.holdsMs = readyHoldsMs;
      });
      last = probe;
    }
    return last.answer;
  };
}

const probes: Readonly<Record<string, (executor: Executor) => Promise<unknown>>> = {
  files: (executor) => executor.execute({ action: 'stat', path: '.' }),
  processes: (executor) => runToEnd(executor, ['true']),
  shell: (executor) => runToEnd(executor, ['bash', '-c', 'true']),
  terminals: async (executor) => {
    const terminal = await executor.openTerminal({ argv: ['true'] });
    await terminal.close();
  },
};

async function probeAll(executor: Executor): Promise<Readiness> {
  const capabilities = await Promise.all(
    Object.entries(probes).map(async ([name, probe]): Promise<Capability> => {
      try {
        await probe(executor);
        return { name, state: 'ready' };
      } catch (error) {
        const reason = WorkcellError.isInstance(error) ? error.message : 'The probe failed unexpectedly.';
        return { name, state: 'unavailable', reason };
      }
    }),
  );
  const ready = capabilities.every(({ state }) => state === 'ready');
  // A plugin that cannot work harms nothing else, so the cell is ready without it.
  return { ready, capabilities: [...capabilities, ...((await executor.capabilities?.()) ?? [])] };
}

async function runToEnd(executor: Executor, argv: string[]): Promise<void> {
  const { id } = await executor.execute<'start_process'>({ action: 'start_process', argv, encoding: 'utf8' });
  await executor.execute({
    action: 'wait_process',
    id,
    timeoutMs: 10_000,
    encoding: 'utf8',
    maxOutputBytes: 256,
    stdoutFrom: 0,
    stderrFrom: 0,
  });
}

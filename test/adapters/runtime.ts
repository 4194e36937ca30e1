/** A runtime with a tool of its own, as every adapter's test uses it. */
import { createRuntime, type Runtime, tool } from '../../src/index.js';

export const offered = { actions: ['run', 'read', 'write'] };

export async function runtimeWithTool(): Promise<Runtime> {
  const runtime = await createRuntime({ config: false, backend: 'cli', events: { store: 'memory' } });
  const double = tool({
    name: 'double',
    description: 'Doubles a number.',
    parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    execute: (input) => ({ doubled: 2 * (input as { n: number }).n }),
  });
  return runtime.add(double);
}

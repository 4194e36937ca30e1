/** Which runtimes have checkpoints. Apart from the rest, so that runtimes without them load nothing for them. */
import { WorkcellError } from '../../protocol/index.js';
import type { RuntimeLike } from './checkpoint-types.js';
import type { RuntimeCheckpoints } from './runtime-checkpoints.js';

const histories = new WeakMap<object, () => RuntimeCheckpoints>();

/** `history`: called when the first of its verbs is. */
export function keepHistory(runtime: RuntimeLike, history: () => RuntimeCheckpoints): void {
  histories.set(runtime, history);
}

export function historyOf(runtime: RuntimeLike): RuntimeCheckpoints {
  const history = histories.get(runtime);
  if (history !== undefined) return history();
  throw new WorkcellError(
    'capability-unsupported',
    `Cell ${runtime.id} has no checkpoints: it works in a directory itself. Start it with workspace: { from: './directory', mode: 'overlay' }, or { mode: 'empty' }.`,
    { details: { backend: runtime.backend, capability: 'checkpoint' } },
  );
}

/** Which containers lost a process for lack of memory. We cannot ask a removed container. */
import type { Engine } from '../engines/docker-engine.js';
import { idLabel } from './labels.js';

const seen = new Map<Engine, Set<string>>();

/** Ids of containers; the set grows with the engine's reports. */
export function watchOoms(engine: Engine): ReadonlySet<string> {
  const known = seen.get(engine);
  if (known !== undefined) return known;
  const ids = new Set<string>();
  seen.set(engine, ids);
  void follow(engine, ids).finally(() => seen.delete(engine));
  return ids;
}

async function follow(engine: Engine, ids: Set<string>): Promise<void> {
  try {
    const filters = { event: ['oom'], label: [idLabel] };
    const events = await engine.waiter.getEvents({ filters });
    for await (const chunk of events) {
      for (const [, id = ''] of String(chunk).matchAll(/"id":"([0-9a-f]{64})"/g)) ids.add(id);
    }
  } catch {
    // The engine went away, so no event can come any more.
  }
}

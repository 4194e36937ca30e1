/** The trusted side switched on: the same behaviours hold, and what it promises holds for each of their actions. */
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { verbs, type WorkcellEvent } from '../../src/protocol/index.js';
import { rules } from '../../src/runtime/security/index.js';
import type { Dimension } from '../../src/testing/index.js';

/** Asks about whatever the rules do not call harmless, and approves it. Nothing runs without a judgement. */
export const guarded: Dimension = {
  options: () => ({
    guards: [rules()],
    policy: {
      onRisk: { low: 'allow', medium: 'confirm', high: 'confirm', unknown: 'confirm' },
      confirm: () => 'approve',
    },
  }),

  check(events) {
    const allowed = new Set<number>();
    for (const event of events) {
      // Nothing judges the cell's owner; behaviours act as an agent.
      if (event.kind === 'action' && event.source === 'user') allowed.add(event.id);
      if (event.kind === 'decision' && event.decision.outcome === 'allow') allowed.add(event.cause);
      if (event.kind === 'observation')
        expect(allowed, `${event.observation.observation} was carried out unjudged`).toContain(event.cause);
    }
  },
};

/** The same for verbs of several steps: the verb is judged, and its steps, which run until it ends, are not judged again. */
export const guardedVerbs: Dimension = {
  ...guarded,

  check(events) {
    const verbIds = new Set<number>();
    const running = new Set<number>();
    const judged: WorkcellEvent[] = [];
    for (const event of events) {
      const isStep = event.kind === 'action' && running.size > 0;
      judged.push(isStep ? { ...event, source: 'user' } : event);
      if (event.kind === 'action' && event.action.action in verbs && !isStep) verbIds.add(event.id);
      if (event.kind === 'decision' && event.decision.outcome === 'allow' && verbIds.has(event.cause))
        running.add(event.cause);
      if (event.kind === 'observation' || event.kind === 'error') running.delete(event.cause);
    }
    guarded.check(judged);
  },
};

const name = 'CONTRACT_TOKEN';
/** The mask holds back output that ends as a secret begins, so this begins as nothing in the behaviours ends. */
const value = `Zq-${randomBytes(12).toString('hex')}`;

/** A secret reaches the commands that name it, and shows in nothing that leaves the cell or enters the record. */
export const secretive: Dimension = {
  options: () => ({ secrets: { [name]: { value, reach: 'env' } } }),

  async look(runtime) {
    const shown = await runtime.run(`printf '<%s> %s\\n' "$${name}" "\${#${name}}"`, { session: 'secret' });
    expect(shown.output).toMatch(new RegExp(`<.*${name}.*> ${value.length}\\n`));
    expect(JSON.stringify(shown)).not.toContain(value);
  },

  check(events) {
    const record = JSON.stringify(events);
    for (const form of [
      value,
      Buffer.from(value).toString('base64').slice(0, -4),
      Buffer.from(value).toString('hex'),
    ])
      expect(record).not.toContain(form);
  },
};

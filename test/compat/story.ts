import type { WorkcellEvent } from '../../src/index.js';

/** What became of the first action that says the words. */
export function storyOf(events: readonly WorkcellEvent[], words: string, name = /./): string[] {
  const first = events.find(
    (event) =>
      event.kind === 'action' &&
      name.test(String(event.action.action)) &&
      JSON.stringify(event.action).includes(words),
  );
  return events
    .filter((event) => event === first || ('cause' in event && event.cause === first?.id))
    .filter(({ kind }) => kind !== 'progress')
    .map((event) => (event.kind === 'decision' ? `decision ${event.decision.outcome}` : event.kind));
}

/** What happened in the browser while an action ran, kept within bounds. */
import type { PageObservation } from './browser-actions.js';
import { most } from './browser-actions.js';

type Kinds = Pick<PageObservation, 'downloads' | 'dialogs' | 'blocked' | 'pageErrors' | 'messages'>;

export class PageEvents {
  #kept: Kinds = empty();
  /** How many dialogs there were, including those that we did not keep. */
  dialogCount = 0;

  add<Kind extends keyof Kinds>(kind: Kind, item: Kinds[Kind][number]): void {
    const list = this.#kept[kind] as unknown[];
    if (kind === 'dialogs') this.dialogCount++;
    if (list.length < most.notes) list.push(item);
  }

  get blocked(): Kinds['blocked'] {
    return this.#kept.blocked;
  }

  /** Returns the events since the last call. */
  take(): Kinds {
    const kept = this.#kept;
    this.#kept = empty();
    this.dialogCount = 0;
    return kept;
  }
}

function empty(): Kinds {
  return { downloads: [], dialogs: [], blocked: [], pageErrors: [], messages: [] };
}

export function note(text: string): string {
  return text.slice(0, most.noteLength);
}

export function shortUrl(url: string): string {
  return url.slice(0, most.urlLength);
}

/** Asks whether a cell may reach a host: the owner's function, and whoever looks into the store of the events. */
import type { NetworkAnswer, NetworkAsker, NetworkQuestion } from '../../../protocol/index.js';
import { hostAnswerMs } from '../../../protocol/network/network-schema.js';
import type { SecretMask } from '../secrets/secret-mask.js';
import { isAllowed, remember } from './allowed-hosts.js';
import { askPerson } from './ask-confirmation.js';
import { type StoreSource, storePending } from './store-pending.js';

export interface HostQuestions {
  readonly asker: NetworkAsker | undefined;
  readonly store: StoreSource | undefined;
  readonly runtimeId: string;
  readonly mask: SecretMask | undefined;
  /** Whether the answer `always` is kept for other cells, and those kept before count here. */
  readonly remembers: boolean;
}

/** Throws where nobody answers. */
export async function askAboutHost(
  question: NetworkQuestion,
  signal: AbortSignal,
  { asker, store, runtimeId, mask, remembers }: HostQuestions,
): Promise<NetworkAnswer> {
  if (remembers && isAllowed(question)) return 'always';
  const pending = store && storePending({ source: store, runtimeId, optional: true });
  const action = { action: 'reach', ...question };
  let requestId: string | undefined;
  try {
    const {
      approved,
      by,
      scope = 'once',
      who,
      reason,
    } = await askPerson(
      {
        kind: 'host',
        action,
        shown: mask?.value(action) ?? action,
        risk: 'unknown',
        reasons: ['No network rule is on this host.'],
        cell: runtimeId,
        forCell: true,
        signal,
        onAsked: (id) => {
          requestId = id;
        },
      },
      {
        pending,
        confirmTimeoutMs: hostAnswerMs,
        confirm: asker && (async (request) => answerOf(await asker(question, request.signal ?? signal))),
      },
    );
    if (by !== 'person') throw new Error(reason);
    if (!approved) return 'deny';
    if (scope === 'always' && remembers && !isRemembered(question, who)) return 'cell';
    return scope;
  } finally {
    // Nobody comes back to a question whose connection no longer waits.
    if (signal.aborted && requestId !== undefined) await pending?.remove(requestId);
  }
}

/** False where the user's settings cannot be written: then the answer holds for the cell. */
function isRemembered(question: NetworkQuestion, who: string | undefined): boolean {
  try {
    remember(question, who);
    return true;
  } catch {
    return false;
  }
}

/** Only these words allow anything. */
function answerOf(answer: NetworkAnswer) {
  const isAllowing = answer === 'once' || answer === 'cell' || answer === 'always';
  return isAllowing ? ({ answer: 'approve', scope: answer } as const) : 'deny';
}

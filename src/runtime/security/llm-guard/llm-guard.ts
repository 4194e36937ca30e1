/** A model judges each action before it runs. If anything keeps it from judging, it refuses the action. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Analyzer, JudgedAction, Verdict } from '../analyzers/analyzer.js';
import { canonical } from '../policy/ask-confirmation.js';
import { describeCall, guardPrompt } from './guard-prompt.js';
import {
  type AskModel,
  askEndpoint,
  askLanguageModel,
  type LanguageModel,
  type ScoreCall,
} from './models.js';

/** Which model judges, and from which score on it refuses. */
export type LlmGuardOptions = (
  | { readonly model: LanguageModel; readonly baseUrl?: undefined; readonly apiKey?: undefined }
  | { readonly model: string; readonly baseUrl: string; readonly apiKey?: string | undefined }
) & {
  /** The highest score that passes. Default: 2, which refuses only 3. */
  readonly threshold?: number | undefined;
  readonly systemPrompt?: string | undefined;
  /** Default: 20 seconds. */
  readonly timeoutMs?: number | undefined;
  /** How many verdicts to keep by content; 0 keeps none. Default: 1000. */
  readonly cache?: number | undefined;
  /** Gets each block that the owner lifts. */
  readonly onWaiver?: ((waiver: Waiver) => void) | undefined;
};

/** The owner's permission for one call to run once. */
export interface Waiver {
  readonly call: JudgedAction;
  /** The cell that it is for: the id of its runtime. Without it, the waiver is for a call that no runtime judges. */
  readonly cell?: string | undefined;
  readonly who: string;
  readonly reason: string;
}

/** An analyzer that asks a model. */
export interface LlmGuard extends Analyzer {
  /** Lets exactly this call pass once. Only the owner holds the guard, so the agent cannot. */
  waive(waiver: Waiver): void;
  /** Forgets waivers and kept verdicts. */
  reset(): void;
}

const scoreSchema = z.object({ score: z.int().min(1).max(3), reason: z.string().max(4000) });

/** Creates an analyzer that lets a model score each action. It refuses whenever the model gives no clear answer. */
export function llmGuard(options: LlmGuardOptions): LlmGuard {
  const { threshold = 2, systemPrompt = guardPrompt, timeoutMs = 20_000, cache = 1000, onWaiver } = options;
  const ask =
    typeof options.model === 'string' ? askEndpoint(options as never) : askLanguageModel(options.model);
  const kept = new Map<string, ScoreCall>();
  const waivers = new Map<string, Waiver>();

  return {
    name: 'llm',
    async analyze(action, context = {}) {
      const key = contentKey(action);
      const lifted = `${context.cell ?? ''} ${key}`;
      const waiver = waivers.get(lifted);
      if (waiver !== undefined) {
        waivers.delete(lifted);
        return {
          risk: 'low',
          reasons: [`${waiver.who} lifted the judgement of the model: ${waiver.reason}`],
        };
      }
      const known = kept.get(key);
      if (known !== undefined) return toVerdict(known, threshold);
      try {
        const timeout = AbortSignal.timeout(timeoutMs);
        const signal = context.signal === undefined ? timeout : AbortSignal.any([timeout, context.signal]);
        const scored = await withAbort(score(ask, systemPrompt, action, signal), signal);
        if (cache > 0) {
          if (kept.size >= cache) kept.delete(kept.keys().next().value ?? '');
          kept.set(key, scored);
        }
        return toVerdict(scored, threshold);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return {
          risk: 'unknown',
          refused: true,
          reasons: [`The model did not judge the action: ${message}`],
        };
      }
    },
    waive(waiver) {
      waivers.set(`${waiver.cell ?? ''} ${contentKey(waiver.call)}`, waiver);
      onWaiver?.(waiver);
    },
    reset() {
      waivers.clear();
      kept.clear();
    },
  };
}

async function score(
  ask: AskModel,
  system: string,
  action: JudgedAction,
  signal: AbortSignal,
): Promise<ScoreCall> {
  const calls = await ask({ system, user: describeCall(action), signal });
  if (calls.length === 0) throw new Error('it did not call the scoring tool');
  const scores = calls.map((call) => {
    const parsed = scoreSchema.safeParse(call);
    if (!parsed.success) throw new Error('its score or reason is malformed');
    return parsed.data;
  });
  // Where it says several things, the worst one counts.
  return scores.reduce((worst, next) => (next.score > worst.score ? next : worst));
}

function toVerdict({ score: value, reason }: ScoreCall, threshold: number): Verdict {
  const text = `The model gives risk ${value} of 3: ${reason}`;
  return value > threshold
    ? { risk: 'high', reasons: [text], refused: true }
    : { risk: 'low', reasons: [text] };
}

/** A model that ignores the signal must not hold the action back either. */
function withAbort<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error('it took too long or was cancelled'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function contentKey(action: JudgedAction): string {
  return createHash('sha256').update(canonical(action)).digest('hex');
}

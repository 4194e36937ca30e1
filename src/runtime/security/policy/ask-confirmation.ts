/** Asks whether an action may run. No answer, a late one or a failed question is a refusal. */
import { createHash, randomBytes } from 'node:crypto';
import type { JudgedAction } from '../analyzers/analyzer.js';
import type { PendingRequest } from './pending.js';
import type { Answer, AnswerScope, ConfirmationRequest, PolicyOptions } from './types.js';

export interface Confirmation {
  readonly approved: boolean;
  readonly by: 'person' | 'timeout' | 'nobody';
  readonly who?: string | undefined;
  /** What an approval holds for. */
  readonly scope?: AnswerScope | undefined;
  readonly requestId?: string | undefined;
  readonly reason?: string | undefined;
}

interface Question
  extends Pick<ConfirmationRequest, 'kind' | 'action' | 'risk' | 'reasons' | 'cell' | 'forCell'> {
  /** The action in the form that we may keep and show. */
  readonly shown: JudgedAction;
  /** Earlier input that belongs to it. */
  readonly typed?: string | undefined;
  /** A digest of what the action means now: an answer to another meaning is none. */
  readonly meaning?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onAsked: (requestId: string) => void;
}

export async function askPerson(question: Question, options: PolicyOptions): Promise<Confirmation> {
  const { confirm, pending, confirmTimeoutMs = 300_000 } = options;
  if (confirm === undefined && pending === undefined)
    return { approved: false, by: 'nobody', reason: 'It needs a confirmation, and nobody can be asked.' };
  const request = await openRequest(question, options, confirmTimeoutMs);
  if (request.answer !== undefined) return settle(request.answer, request.id, options);
  question.onAsked(request.id);
  const stop = new AbortController();
  const signal =
    question.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, question.signal]);
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), Math.max(0, request.expiresAt - Date.now()));
      if (question.signal?.aborted) resolve(undefined);
      question.signal?.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    const { answer: _, ...rest } = request;
    const asked = [
      ...(confirm === undefined ? [] : [Promise.resolve().then(() => confirm({ ...rest, signal }))]),
      ...(pending === undefined ? [] : [pending.answered(request.id, signal)]),
    ];
    const answer = await Promise.race([late, Promise.any(asked)]);
    if (answer === undefined)
      return { approved: false, by: 'timeout', requestId: request.id, reason: 'Nobody answered in time.' };
    return settle(answer, request.id, options);
  } catch (error) {
    const cause = error instanceof AggregateError ? error.errors[0] : error;
    const message = cause instanceof Error ? cause.message : String(cause);
    return {
      approved: false,
      by: 'nobody',
      requestId: request.id,
      reason: `The question could not be asked: ${message}`,
    };
  } finally {
    clearTimeout(timer);
    stop.abort();
    // A caller that cancelled may come back, so remove only a question whose time is over.
    if (!question.signal?.aborted) await pending?.remove(request.id);
  }
}

/** A question that equals a waiting one is that question, with its remaining time. */
async function openRequest(
  question: Question,
  options: PolicyOptions,
  timeoutMs: number,
): Promise<PendingRequest> {
  const { cell, typed, meaning } = question;
  const digest = digestOf(question.action, { cell, typed, meaning });
  const now = Date.now();
  for (const waiting of (await options.pending?.list()) ?? []) {
    if (waiting.digest !== digest || waiting.cell !== cell) continue;
    if (!waiting.masked && digestOf(waiting.action, { cell, meaning }) !== digest) continue;
    if (waiting.expiresAt > now) return waiting;
    await options.pending?.remove(waiting.id);
  }
  const { kind, action, shown, risk, reasons, forCell } = question;
  const id = randomBytes(8).toString('hex');
  const times = { askedAt: now, expiresAt: now + timeoutMs };
  const request = {
    ...{ id, action: shown, risk, reasons, ...times, digest },
    ...(kind !== undefined && { kind }),
    ...(cell !== undefined && { cell }),
    ...(forCell === true && { forCell }),
    ...((shown !== action || (typed ?? '') !== '') && { masked: true }),
  };
  await options.pending?.put(request);
  return request;
}

async function settle(answer: Answer, requestId: string, { pending }: PolicyOptions): Promise<Confirmation> {
  // An answer counts once.
  await pending?.remove(requestId);
  const { answer: decided, who, scope, word } = typeof answer === 'string' ? { answer } : answer;
  const approved = decided === 'approve';
  return {
    approved,
    by: 'person',
    who,
    scope,
    requestId,
    reason: approved
      ? undefined
      : word === undefined
        ? 'A person refused it.'
        : `A person refused it: ${word}`,
  };
}

/** Of exactly this action in exactly this cell. */
export function digestOf(
  action: JudgedAction,
  { cell, typed, meaning }: Partial<Pick<Question, 'cell' | 'typed' | 'meaning'>> = {},
): string {
  return createHash('sha256').update(canonical({ action, cell, typed, meaning })).digest('hex');
}

/** JSON with sorted keys, so that equal actions have equal digests. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner) && !(inner instanceof RegExp)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner instanceof RegExp
        ? String(inner)
        : inner,
  );
}

/** Questions that wait for an answer, stored so that they outlive the process that asked. */
import { randomBytes } from 'node:crypto';
import {
  type FSWatcher,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { WorkcellError } from '../../../protocol/index.js';
import type { Answer, AnswerScope, ConfirmationRequest } from './types.js';

/** A question that waits for an answer, or has one. */
export interface PendingRequest extends Omit<ConfirmationRequest, 'signal'> {
  /** True when the request shows the action without its secrets, so that the digest does not fit what it shows. */
  readonly masked?: boolean | undefined;
  readonly answer?: Exclude<Answer, string> | undefined;
}

/** Only the trusted side may reach it: an answer found here counts as a person's. */
export interface PendingStore {
  put(request: PendingRequest): void | Promise<void>;
  list(): PendingRequest[] | Promise<PendingRequest[]>;
  remove(id: string): void | Promise<void>;
  answer(
    id: string,
    answer: 'approve' | 'deny',
    who?: string,
    scope?: AnswerScope,
    word?: string,
  ): void | Promise<void>;
  /** Resolves with the answer once there is one. */
  answered(id: string, signal: AbortSignal): Promise<NonNullable<PendingRequest['answer']>>;
}

export const pendingSchema = z.object({
  id: z.string().regex(/^[0-9a-f]{16}$/),
  kind: z.literal('host').optional(),
  action: z.looseObject({ action: z.string() }),
  risk: z.enum(['low', 'medium', 'unknown', 'high']),
  reasons: z.array(z.string()),
  askedAt: z.number(),
  expiresAt: z.number(),
  digest: z.string(),
  cell: z.string().optional(),
  forCell: z.boolean().optional(),
  masked: z.boolean().optional(),
  answer: z
    .object({
      answer: z.enum(['approve', 'deny']),
      who: z.string().optional(),
      scope: z.enum(['once', 'cell', 'always']).optional(),
      word: z.string().optional(),
    })
    .optional(),
});

/** One JSON file for each question, in a directory that only its owner can enter. */
export function filePendingStore(directory: string): PendingStore {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const fileOf = (id: string) => {
    if (!/^[0-9a-f]{16}$/.test(id))
      throw new WorkcellError('not-found', `There is no pending confirmation ${JSON.stringify(id)}.`, {
        details: { id },
      });
    return join(directory, `${id}.json`);
  };
  const read = (file: string): PendingRequest | undefined => {
    try {
      return pendingSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) as PendingRequest;
    } catch {
      // A missing or foreign file holds no question and no answer.
      return undefined;
    }
  };
  const put = (request: PendingRequest) => {
    const file = fileOf(request.id);
    const fresh = `${file}.${randomBytes(4).toString('hex')}.new`;
    writeFileSync(fresh, JSON.stringify(request), { mode: 0o600, flush: true });
    renameSync(fresh, file);
  };
  return {
    put,
    list: () =>
      readdirSync(directory)
        .filter((name) => name.endsWith('.json'))
        .map((name) => read(join(directory, name)))
        .filter((request) => request !== undefined),
    remove: (id) => rmSync(fileOf(id), { force: true }),
    answer(id, answer, who, scope, word) {
      const request = read(fileOf(id));
      if (request === undefined)
        throw new WorkcellError(
          'not-found',
          `There is no pending confirmation ${id}; it may have been answered.`,
          { details: { id } },
        );
      put({ ...request, answer: { answer, who, scope, word } });
    },
    answered(id, signal) {
      return new Promise((resolve, reject) => {
        let watcher: FSWatcher | undefined;
        const check = () => {
          const answer = read(fileOf(id))?.answer;
          if (answer === undefined) return;
          watcher?.close();
          resolve(answer);
        };
        watcher = watch(directory, check).unref();
        watcher.on('error', reject);
        signal.addEventListener('abort', () => {
          watcher?.close();
          reject(new Error('nobody answered'));
        });
        if (signal.aborted) watcher.close();
        else check();
      });
    },
  };
}

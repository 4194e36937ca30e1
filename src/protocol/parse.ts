import type { z } from 'zod';
import {
  type Action,
  type ActionName,
  actionNames,
  actions,
  isActionName,
  type Observation,
} from './actions/index.js';
import { WorkcellError } from './errors.js';

/** Checks what a caller sent and fills in defaults; every problem is named with its path. */
export function parseAction(value: unknown): Action {
  const name = (value as { action?: unknown } | null | undefined)?.action;
  if (!isActionName(name)) {
    throw new WorkcellError(
      'invalid-action',
      `There is no action ${JSON.stringify(name) ?? 'without a name'}. Known actions: ${actionNames.join(', ')}.`,
      { details: { action: name } },
    );
  }
  const result = actions[name].input.safeParse(value);
  if (result.success) return result.data as Action;
  throw new WorkcellError(
    'invalid-action',
    `The action "${name}" does not fit: ${describeIssues(result.error)}.`,
    {
      details: { action: name, issues: result.error.issues.map(({ path, message }) => ({ path, message })) },
    },
  );
}

/** Checks what an executor answered. An executor may sit in a cell, so its answer is not trusted. */
export function parseObservation<Name extends ActionName>(name: Name, value: unknown): Observation<Name> {
  const result = actions[name].output.safeParse(value);
  if (result.success) return result.data as Observation<Name>;
  throw new WorkcellError(
    'internal',
    `The executor answered "${name}" with something that does not fit: ${describeIssues(result.error)}.`,
    { details: { action: name } },
  );
}

/** One line for all problems of a value: `path: message; path: message`. */
export function describeIssues(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}

import type { z } from 'zod';
import type { ActionDefinition, ActionTable } from './action.js';
import { type Action, type ActionName, actions, type Observation } from './actions/index.js';
import { WorkcellError } from './errors.js';
import { didYouMean, nearest } from './nearest.js';

/** Checks what a caller sent and fills in defaults; names every problem with its path. */
export function parseAction(value: unknown, known: ActionTable = actions): Action {
  const name = (value as { action?: unknown } | null | undefined)?.action;
  const definition = typeof name === 'string' && Object.hasOwn(known, name) ? known[name] : undefined;
  if (definition === undefined) {
    const meant = typeof name === 'string' ? nearest(name, Object.keys(known)) : undefined;
    throw new WorkcellError(
      'invalid-action',
      `There is no action ${JSON.stringify(name) ?? 'without a name'}.${didYouMean(meant)} Known actions: ${Object.keys(known).join(', ')}.`,
      { details: { action: name } },
    );
  }
  if (!isShallow(value, mostLevels)) {
    throw new WorkcellError(
      'invalid-action',
      `The action "${name}" has more than ${mostLevels} levels. Send what is nested as a text.`,
      { details: { action: name } },
    );
  }
  const result = definition.input.safeParse(value);
  if (result.success) return result.data as unknown as Action;
  throw new WorkcellError(
    'invalid-action',
    `The action "${name}" is not valid: ${describeIssues(result.error)}.${meantFields(result.error, definition)}`,
    {
      details: { action: name, issues: result.error.issues.map(({ path, message }) => ({ path, message })) },
    },
  );
}

/** The fields that there are, for somebody who named another one. */
function meantFields({ issues }: z.ZodError, { input }: ActionDefinition): string {
  const unknown = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : [],
  );
  const [first] = unknown;
  if (first === undefined) return '';
  const fields = Object.keys(input.shape).filter((field) => field !== 'action');
  return `${didYouMean(nearest(first, fields))} Accepted: ${fields.join(', ') || 'none'}.`;
}

/** Whatever an action goes through looks at it by recursion. */
const mostLevels = 512;

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return true;
  if (levels === 0) return false;
  for (const key in value) if (!isShallow((value as Record<string, unknown>)[key], levels - 1)) return false;
  return true;
}

/** Checks what an executor answered. An executor may be in a cell, so do not trust its answer. */
export function parseObservation<Name extends ActionName>(
  name: Name,
  value: unknown,
  known: ActionTable = actions,
): Observation<Name> {
  const definition = known[name];
  if (definition === undefined)
    throw new WorkcellError('internal', `There is no observation "${name}" to compare an answer with.`);
  const result = definition.output.safeParse(value);
  if (result.success) return result.data as unknown as Observation<Name>;
  throw new WorkcellError(
    'internal',
    `The executor answered "${name}" with something that is not valid: ${describeIssues(result.error)}.`,
    { details: { action: name } },
  );
}

/** One line for all problems of a value: `path: message; path: message`. */
export function describeIssues(error: z.ZodError): string {
  return error.issues
    .flatMap((issue) => meant(issue))
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}

type Issue = z.core.$ZodIssue;

/** Of several forms of a value, what is wrong with the one that its author most likely chose. */
function meant(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const forms = issue.errors.filter((found) => found.length > 0);
  const best = Math.max(...forms.map(closeness));
  const [chosen, ...rest] = forms.filter((found) => closeness(found) === best);
  if (chosen === undefined || rest.length > 0) return [issue];
  return chosen.flatMap(meant).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** A form whose parts are wrong is closer than one that is of another type altogether. */
function closeness(found: readonly Issue[]): number {
  const depth = Math.min(...found.map(({ path }) => path.length));
  const isWhole = found.some(({ path, code }) => path.length === 0 && code === 'invalid_type');
  return isWhole ? -1 : depth;
}

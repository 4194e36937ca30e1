/** What a bundle of tools offers to the tool host of a cell. */
import { carryOut, type Outcome } from './carry-out.js';
import { collect, type Definition, type Entry } from './collect-tools.js';
import type { Reporting } from './perform-tool.js';

type Calls = Map<string, (input: unknown, context: Reporting) => Promise<Outcome>>;

/** The tools of modules by name. They check their own arguments where their schema came with them. */
export async function openKit(entries: readonly Entry[], given: unknown): Promise<Calls> {
  const definitions = await collect(entries, given);
  return new Map(definitions.map((definition) => [definition.name, caller(definition)]));
}

interface Validating {
  validate(value: unknown): Promise<Result> | Result;
}

type Result = { value: unknown; issues?: undefined } | { issues: { message: string; path?: unknown[] }[] };

function caller(definition: Definition): (input: unknown, context: Reporting) => Promise<Outcome> {
  const standard = (definition.parameters as { '~standard'?: Validating } | undefined)?.['~standard'];
  if (standard === undefined) return (input, context) => carryOut(definition as never, input, context);
  return async (input, context) => {
    const result = await standard.validate(input);
    if (result.issues === undefined) return carryOut(definition as never, result.value, context);
    const issues = result.issues.map(({ message, path }) => ({
      message,
      path: Array.from(path ?? [], stepOf),
    }));
    const all = issues.map(({ message, path }) => `${path.join('.')}: ${message}`).join('; ');
    const message = `The arguments of tool "${definition.name}" do not fit: ${all}.`;
    return { error: { code: 'invalid-arguments', message, details: { tool: definition.name, issues } } };
  };
}

function stepOf(step: unknown): string | number {
  const key = typeof step === 'object' && step !== null && 'key' in step ? step.key : step;
  return typeof key === 'number' ? key : String(key);
}

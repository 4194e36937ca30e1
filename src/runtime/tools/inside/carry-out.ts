/** Carries a tool's function out. The same here and, bundled with the tools, in a cell; so it needs no other file of ours. */
import { perform, type Reporting } from './perform-tool.js';
import { serialize } from './serialize.js';

/** How a call ended: JSON text of the result, or the error. */
export type Outcome =
  | { readonly json: string; readonly error?: undefined }
  | {
      readonly json?: undefined;
      readonly error: { readonly code: OutcomeCode; readonly message: string; readonly details: object };
      readonly cause?: unknown;
    };

type OutcomeCode = 'tool-failed' | 'invalid-arguments' | 'invalid-result';

/** How much JSON a tool may return. */
const resultLimitBytes = 8_388_608;

/** Never rejects: whatever a function does becomes an outcome. */
export async function carryOut<Context extends Reporting>(
  { name, execute }: { readonly name: string; execute(input: never, context: Context): unknown },
  input: unknown,
  context: Context,
): Promise<Outcome> {
  let result: unknown;
  try {
    result = await perform(execute, input, context);
  } catch (cause) {
    const message = messageOf(cause);
    const kind = cause instanceof Error ? cause.name : typeof cause;
    const details = { tool: name, name: kind, message };
    return { error: { code: 'tool-failed', message: `Tool "${name}" failed: ${message}`, details }, cause };
  }
  try {
    return { json: serialize(result, resultLimitBytes) };
  } catch (cause) {
    const message = `The result of tool "${name}" cannot be used: ${messageOf(cause)}.`;
    return { error: { code: 'invalid-result', message, details: { tool: name } }, cause };
  }
}

/** Code can throw anything, even a value without a text form. */
function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return 'something that cannot be shown';
  }
}

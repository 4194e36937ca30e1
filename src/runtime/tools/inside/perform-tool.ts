/** What a tool's function gets besides its arguments. */
export interface Reporting {
  progress(value: unknown): void;
}

/**
 * Calls a tool's function and waits for its result. Each value of an async iterable is progress, and its return value
 * is the result, or its last value when it returns nothing.
 */
export async function perform<Context extends Reporting>(
  execute: (input: never, context: Context) => unknown,
  input: unknown,
  context: Context,
): Promise<unknown> {
  const answer = await execute(input as never, context);
  if (typeof answer !== 'object' || answer === null || !(Symbol.asyncIterator in answer)) return answer;
  const values = (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  let last: unknown;
  for (;;) {
    const { done, value } = await values.next();
    if (done === true) return value === undefined ? last : value;
    last = value;
    context.progress(value);
  }
}

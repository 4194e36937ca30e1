/** What a behaviour works with: its own runtime, and a few ways to look at it. */
import { randomBytes } from 'node:crypto';
import type { CreateRuntimeOptions, ErrorCode, Observation, Runtime } from '../../index.js';
import { WorkcellError } from '../../index.js';
import { expect } from './expect.js';
import { programs } from './programs.js';
import type { RequirementId } from './requirements.js';

export interface Given {
  /** Made for this test, closed after it. */
  readonly runtime: Runtime;
  /** Another runtime of the same kind, closed after the test too. */
  create(overrides?: Partial<CreateRuntimeOptions>): Promise<Runtime>;
}

export type Behaviours = Partial<Record<RequirementId, (given: Given) => Promise<void>>>;

/** Runs a command that must succeed. Returns its output. */
export async function sh(
  runtime: Runtime,
  command: string,
  options: Parameters<Runtime['run']>[1] = {},
): Promise<string> {
  const result = await runtime.run(command, options);
  expect(result, `${command}\n${result.output}`).toMatchObject({ exitCode: 0, endedBy: 'exit' });
  return result.output;
}

/** Expects a refusal with this code. Returns the error. */
export async function refusal(promise: Promise<unknown>, code: ErrorCode): Promise<WorkcellError> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!('error' in outcome))
    throw new Error(`Expected ${code}, got ${JSON.stringify(outcome.value)?.slice(0, 500)}`);
  if (!WorkcellError.isInstance(outcome.error)) throw outcome.error;
  expect(outcome.error.code, outcome.error.message).toBe(code);
  expect(outcome.error.message.length).toBeGreaterThan(20);
  return outcome.error;
}

/** Settles when the condition holds; fails when it does not for ten seconds. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what = 'the condition',
): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${what} does not hold after 30 seconds`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Starts a command that waits for input; settles when it has printed what it waits with. */
export async function begin(
  runtime: Runtime,
  command: string,
  prompt: RegExp,
  options: Parameters<Runtime['run']>[1] = {},
): Promise<string> {
  const first = await runtime.run(command, { noChangeTimeoutMs: 150, ...options });
  return (await follow(runtime, first, prompt, options.session)).output;
}

/** Sends input to the running command; settles when it has printed the expected text, or has ended. */
export async function say(
  runtime: Runtime,
  input: string,
  expected: RegExp,
  session?: string,
): Promise<Observation<'run'>> {
  const options = session === undefined ? {} : { session };
  const first = await runtime.run(input, { input: true, noChangeTimeoutMs: 150, ...options });
  return follow(runtime, first, expected, session);
}

/** Sends input that makes the running command end, and waits until it has. */
export async function finish(runtime: Runtime, input: string, session?: string): Promise<Observation<'run'>> {
  const options = { timeoutMs: 20_000, ...(session === undefined ? {} : { session }) };
  return runtime.run(input, { input: true, ...options });
}

async function follow(
  runtime: Runtime,
  first: Observation<'run'>,
  expected: RegExp,
  session?: string,
): Promise<Observation<'run'>> {
  let { output } = first;
  let last = first;
  const deadline = Date.now() + 20_000;
  while (last.endedBy === 'no-change' && !expected.test(output) && Date.now() < deadline) {
    last = await runtime.run('', { noChangeTimeoutMs: 150, ...(session === undefined ? {} : { session }) });
    output += last.output;
  }
  expect(output).toMatch(expected);
  return { ...last, output };
}

/** Puts one of the programs into the workspace, executable. */
export async function fixture(runtime: Runtime, name: keyof typeof programs): Promise<string> {
  await runtime.write(name, `#!/bin/bash\n${programs[name]}\n`, { mode: 0o755 });
  return `./${name}`;
}

/** A word that no other test and no other process uses. */
export function uniqueWord(): string {
  return `marker-${randomBytes(8).toString('hex')}`;
}

/** How many processes of the cell have this word among their arguments. */
export async function countProcesses(runtime: Runtime, word: string): Promise<number> {
  const program = await fixture(runtime, 'count-processes');
  return Number(await sh(runtime, program, { session: 'look', env: { WORD: word } }));
}

export async function collect(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

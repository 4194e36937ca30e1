/** The contexts of a sandbox's code: each has a language, a directory, and a kernel of its own. */
import { randomUUID } from 'node:crypto';
import { quote } from '../../../base/shell-quote.js';
import type { Runtime } from '../../../index.js';
import type { Observation, Progress } from '../../../protocol/index.js';
import { E2bError } from '../e2b-errors.js';

export interface CodeContext {
  readonly id: string;
  readonly language: string;
  readonly cwd: string;
}

/** Other names that clients use for a language. */
const languages = new Map([
  ['js', 'javascript'],
  ['ts', 'typescript'],
]);
const mostContexts = 100;

export class Interpreter {
  readonly #contexts = new Map<string, CodeContext>();
  /** The last code with variables of its own; the next one waits for it, because all kernels see them. */
  #turn: Promise<unknown> = Promise.resolve();

  /** The context of a language that exists without being created. */
  defaultContext(language: string, home: string): CodeContext {
    const name = languages.get(language) ?? language;
    const id = `default-${name}`;
    const known = this.#contexts.get(id);
    if (known !== undefined) return known;
    this.#checkRoom();
    const made = { id, language: name, cwd: home };
    this.#contexts.set(id, made);
    return made;
  }

  async create(runtime: Runtime, language: string, cwd: string): Promise<CodeContext> {
    this.#checkRoom();
    const context = { id: randomUUID(), language: languages.get(language) ?? language, cwd };
    const first = chdir(context.language, cwd);
    if (first !== undefined) {
      const { status, text } = await runtime.runCode(first, placeOf(context));
      if (status === 'error') throw new E2bError(400, `The context cannot begin in ${cwd}: ${text}`);
    }
    this.#contexts.set(context.id, context);
    return context;
  }

  #checkRoom(): void {
    if (this.#contexts.size < mostContexts) return;
    throw new E2bError(400, `A sandbox has at most ${mostContexts} contexts; remove some.`);
  }

  get(id: string): CodeContext {
    const context = this.#contexts.get(id);
    if (context === undefined) throw new E2bError(404, `Context ${id} not found`);
    return context;
  }

  list(): CodeContext[] {
    return [...this.#contexts.values()];
  }

  async control(runtime: Runtime, id: string, operation: 'restart' | 'close'): Promise<void> {
    const context = this.get(id);
    const { contexts } = await runtime.execute({ action: 'list_contexts' });
    // A kernel starts with the first code, so there may be none.
    if (contexts.some(({ context: name, language }) => name === id && language === context.language))
      await runtime.execute({ action: 'control_context', operation, ...placeOf(context) });
    if (operation === 'close') this.#contexts.delete(id);
  }

  async run(
    runtime: Runtime,
    context: CodeContext,
    code: string,
    variables: Readonly<Record<string, string>>,
    listen: { onProgress(progress: Progress): unknown; signal: AbortSignal },
  ): Promise<Observation<'run_code'>> {
    const run = () => runtime.execute({ action: 'run_code', code, ...placeOf(context) }, listen);
    const names = Object.keys(variables);
    if (names.length === 0) return run();
    const turn = this.#turn.then(async () => {
      const before = Object.entries(await runtime.env.get()).filter(([name]) => names.includes(name));
      await runtime.env.set(variables);
      try {
        return await run();
      } finally {
        await runtime.env.unset(...names);
        await runtime.env.set(Object.fromEntries(before));
      }
    });
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

function placeOf({ id, language }: CodeContext) {
  return { context: id, language };
}

/** Code that moves a new context into its directory; undefined for a language that has none here. */
function chdir(language: string, cwd: string): string | undefined {
  const path = JSON.stringify(cwd);
  if (language === 'python') return `__import__('os').chdir(${path})`;
  if (language === 'javascript' || language === 'typescript') return `process.chdir(${path})`;
  return language === 'bash' ? `cd -- ${quote(cwd)}` : undefined;
}

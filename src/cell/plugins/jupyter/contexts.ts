/** All contexts of a cell, the kernels they run on, and a few kernels that it starts in advance. */
import type { PluginCell } from '../plugin.js';
import { Context, type ReadyKernel, type Surroundings } from './code-context.js';
import { executeSilently } from './execution.js';
import { Kernel } from './jupyter-kernel.js';
import { chooseSpec, findKernelSpecs, type KernelSpec } from './kernel-specs.js';
import { languageOf } from './languages.js';

export interface ContextsOptions {
  /** How many kernels of each used language wait for the next context. */
  readonly spare: number;
  /** The shell session whose working directory kernels follow. */
  readonly session: string;
  /** Code that every kernel of a language runs before its first code cell. */
  readonly startup: string;
  readonly language: string;
}

/** More at once would only make each of them slower. */
const startsAtOnce = 4;

export class Contexts {
  readonly #cell: PluginCell;
  readonly #options: ContextsOptions;
  readonly #contexts = new Map<string, Context>();
  readonly #spares = new Map<string, Promise<ReadyKernel>[]>();
  readonly #waiting = new Set<Promise<ReadyKernel>>();
  #specs: Promise<KernelSpec[]> | undefined;
  #starting = 0;
  readonly #queue: (() => void)[] = [];
  #closed = false;

  constructor(cell: PluginCell, options: ContextsOptions) {
    this.#cell = cell;
    this.#options = options;
  }

  list(): Context[] {
    return [...this.#contexts.values()];
  }

  specs(): Promise<KernelSpec[]> {
    return findKernelSpecs(this.#cell);
  }

  /** How many kernels are ready for future contexts. */
  get spare(): number {
    return this.#waiting.size;
  }

  /** The installed kernels; looks them up once. */
  installed(): Promise<KernelSpec[]> {
    this.#specs ??= this.specs();
    return this.#specs;
  }

  /** Starts kernels for future contexts. */
  async warm(language: string): Promise<void> {
    this.#refill(await this.#spec(language));
  }

  /** The context of that name for a language. Its first code cell creates it. */
  async open(language: string, name: string): Promise<Context> {
    const spec = await this.#spec(language);
    const key = keyOf(spec, name);
    const known = this.#contexts.get(key);
    if (known !== undefined) return known;
    const context = new Context({
      name,
      language: spec.language,
      kernelName: spec.name,
      obtain: () => this.#obtain(spec),
      surroundings: () => this.surroundings(),
    });
    this.#contexts.set(key, context);
    return context;
  }

  async find(language: string, name: string): Promise<Context | undefined> {
    return this.#contexts.get(keyOf(await this.#spec(language), name));
  }

  forget(context: Context): void {
    for (const [key, known] of this.#contexts) if (known === context) this.#contexts.delete(key);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const spares = [...this.#spares.values()].flat();
    this.#spares.clear();
    await Promise.all([
      ...this.list().map((context) => context.close()),
      ...spares.map(async (spare) => (await spare.catch(() => undefined))?.kernel.kill()),
    ]);
  }

  /** Looks again for a missing language. */
  async #spec(language: string): Promise<KernelSpec> {
    try {
      return chooseSpec(await this.installed(), language);
    } catch {
      this.#specs = this.specs();
      return chooseSpec(await this.#specs, language);
    }
  }

  async #obtain(spec: KernelSpec): Promise<ReadyKernel> {
    const spares = this.#spares.get(spec.name) ?? [];
    const spare = spares.shift();
    if (spare !== undefined) this.#waiting.delete(spare);
    const found = await spare?.catch(() => undefined);
    const ready = found?.kernel.alive ? found : await this.#start(spec);
    this.#refill(spec);
    return ready;
  }

  #refill(spec: KernelSpec): void {
    if (this.#closed) return;
    const spares = this.#spares.get(spec.name) ?? [];
    this.#spares.set(spec.name, spares);
    while (spares.length < this.#options.spare) {
      const spare = this.#start(spec);
      spares.push(spare);
      // Swallow the error here; the caller that takes the kernel sees it.
      spare.then(
        () => {
          if (spares.includes(spare)) this.#waiting.add(spare);
        },
        () => {},
      );
    }
  }

  async #start(spec: KernelSpec): Promise<ReadyKernel> {
    while (this.#starting >= startsAtOnce) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#starting++;
    try {
      const told = await this.surroundings();
      const kernel = await Kernel.start(this.#cell, spec, told.cwd);
      const { prepare, interpreter } = languageOf(spec.language) ?? {};
      const path = prepare === undefined ? undefined : await executeSilently(kernel, prepare, interpreter);
      const { startup, language } = this.#options;
      if (startup !== '' && (await this.#spec(language)).language === spec.language)
        await executeSilently(kernel, startup);
      return { kernel, told, interpreter: path };
    } finally {
      this.#starting--;
      this.#queue.shift()?.();
    }
  }

  /** What the kernels follow. */
  async surroundings(): Promise<Surroundings> {
    const [{ variables }, { sessions }] = await Promise.all([
      this.#cell.execute<'get_env'>({ action: 'get_env' }),
      this.#cell.execute<'list_sessions'>({ action: 'list_sessions' }),
    ]);
    const cwd = sessions.find(({ session }) => session === this.#options.session)?.cwd;
    return { cwd: cwd === '' ? undefined : cwd, variables };
  }
}

function keyOf(spec: KernelSpec, name: string): string {
  return `${spec.name}\0${name}`;
}

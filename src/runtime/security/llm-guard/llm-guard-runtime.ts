/** A set of tools whose calls a model judges first. */
import type { JudgedAction } from '../analyzers/analyzer.js';
import { type LlmGuardOptions, llmGuard, type Waiver } from './llm-guard.js';

/** What guarding a tool needs of it. */
export interface GuardableTool {
  readonly name: string;
  readonly description?: string | undefined;
  execute(input: unknown, ...rest: readonly unknown[]): unknown;
}

/** Takes tools and returns them guarded. A refused call answers `{ error }`, for the agent to read. */
export class LlmGuardRuntime<Tool extends GuardableTool = GuardableTool> {
  readonly #options: LlmGuardOptions;
  readonly #tools = new Map<string, { guarded: Tool; reset(): void; waive(waiver: Waiver): void }>();

  constructor(options: LlmGuardOptions) {
    this.#options = options;
  }

  /** `threshold` is the highest score that passes for these tools. Default: the runtime's own. */
  add(tools: Tool | readonly Tool[], threshold: number = this.#options.threshold ?? 2): this {
    for (const tool of [tools].flat() as Tool[]) {
      const guard = llmGuard({ ...this.#options, threshold });
      const execute = async (input: unknown, ...rest: readonly unknown[]): Promise<unknown> => {
        const verdict = await guard.analyze(toCall(tool.name, input, tool.description));
        if (verdict.refused)
          return { error: `The call of ${tool.name} was refused. ${verdict.reasons.join(' ')}` };
        return tool.execute(input, ...rest);
      };
      // The guarded tool is the tool in everything but its execution.
      const guarded = Object.create(tool, { execute: { value: execute, enumerable: true } }) as Tool;
      this.#tools.set(tool.name, { guarded, reset: guard.reset, waive: guard.waive });
    }
    return this;
  }

  getTools(): Tool[] {
    return [...this.#tools.values()].map(({ guarded }) => guarded);
  }

  /** Lets one call with exactly this input pass. It is for the owner: agents get the tools, not this object. */
  waive(name: string, input: unknown, { who, reason }: Pick<Waiver, 'who' | 'reason'>): void {
    const tool = this.#tools.get(name);
    tool?.waive({ call: toCall(name, input, tool.guarded.description), who, reason });
  }

  /** Forgets waivers and kept verdicts; the tools stay. */
  reset(): void {
    for (const tool of this.#tools.values()) tool.reset();
  }
}

function toCall(name: string, input: unknown, description: string | undefined): JudgedAction {
  return { action: 'call_tool', name, description: description ?? '', arguments: input };
}

/** A cell with the skills, and a kernel that has imported them. */
import { createRuntime, type Runtime } from '../../../../src/index.js';

export interface SkillsCell extends AsyncDisposable {
  readonly runtime: Runtime;
  /** Runs code that must succeed; gives what it printed, without the last line end. */
  python(code: string): Promise<string>;
}

export async function openSkillsCell(
  backend: 'cli' | 'sandbox',
  more: { readonly env?: Record<string, string> } = {},
): Promise<SkillsCell> {
  const startup = 'from agentskills import *';
  const runtime = await createRuntime({
    backend,
    config: false,
    ...more,
    plugins: [{ name: 'jupyter', options: { startup } }, 'agent-skills', 'tools'],
  });
  return {
    runtime,
    async python(code) {
      const { text, status } = await runtime.runCode(code);
      if (status !== 'ok') throw new Error(text);
      return text.replace(/\n$/, '');
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}

export const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${from + index}|line ${from + index}`);

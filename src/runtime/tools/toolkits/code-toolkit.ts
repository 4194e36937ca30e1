/** Runs code; what it defines is there for the next call. */
import { z } from 'zod';
import { type FunctionTool, tool } from '../function-tool.js';
import { Interpreter } from './interpreter.js';
import { PersistentShell } from './toolkit-shell.js';

/** Where the code of the toolkit runs. */
export interface CodeToolkitOptions {
  /** Where code runs. Default: the working directory. */
  readonly cwd?: string;
}

/** Makes tools that run code, with state between calls. */
export function codeToolkit({ cwd = process.cwd() }: CodeToolkitOptions = {}): FunctionTool[] {
  const interpreters = {
    python: new Interpreter('python', cwd),
    javascript: new Interpreter('javascript', cwd),
  };
  const shell = new PersistentShell(cwd);
  return [
    tool({
      name: 'execute_code',
      description:
        'Runs Python, JavaScript or shell code. State is kept between calls of the same language. Gives what was printed, the value of the last expression, and the error if there was one.',
      parameters: z.object({
        code: z.string(),
        language: z.enum(['python', 'javascript', 'shell']).default('python'),
      }),
      async execute({ code, language }, { signal }) {
        if (language !== 'shell') return interpreters[language].run(code, signal);
        const { output, exitCode } = await shell.run(code, signal);
        return { output, value: null, error: exitCode === 0 ? null : `exit code ${exitCode}` };
      },
    }) as FunctionTool,
  ];
}

/** Runs code; the next call still has its definitions. */
import { z } from 'zod';
import { type FunctionTool, tool } from '../function-tool.js';
import { Interpreter } from './interpreter.js';
import { checkOptions } from './toolkit-options.js';
import { PersistentShell } from './toolkit-shell.js';

/** Where the code of the toolkit runs. */
export interface CodeToolkitOptions {
  /** Where code runs. Default: the working directory. */
  readonly cwd?: string;
}

const language = z.enum(['python', 'javascript', 'shell']);

/** The names that CAMEL's interpreters know for them. */
const languages: Readonly<Record<string, z.infer<typeof language>>> = {
  python: 'python',
  py: 'python',
  py3: 'python',
  python3: 'python',
  javascript: 'javascript',
  js: 'javascript',
  node: 'javascript',
  shell: 'shell',
  sh: 'shell',
  bash: 'shell',
};
const codeType = z.enum(Object.keys(languages) as [string, ...string[]]);

/** Makes tools that run code, with state between calls. */
export function codeToolkit(options: CodeToolkitOptions = {}): FunctionTool[] {
  checkOptions('codeToolkit', options, ['cwd']);
  const { cwd = process.cwd() } = options;
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
        language: language.default('python'),
        code_type: codeType.optional().describe('The same as language, as CAMEL names it.'),
      }),
      async execute({ code, language: named, code_type: type }, { signal }) {
        const language = type === undefined ? named : (languages[type] ?? named);
        if (language !== 'shell') return interpreters[language].run(code, signal);
        const { output, exitCode } = await shell.run(code, signal);
        return { output, value: null, error: exitCode === 0 ? null : `exit code ${exitCode}` };
      },
    }) as FunctionTool,
  ];
}

/** What code cells of a language need besides the protocol: how a kernel follows the cell, in its own words. */
import { programText } from '../../../base/program-text.js';
import { quote } from '../../../base/shell-quote.js';

interface EnvironmentChange {
  readonly set: Readonly<Record<string, string>>;
  readonly unset: readonly string[];
}

interface Language {
  /** Run once, when the kernel is new. */
  readonly prepare?: string;
  /** An expression whose text is the path of the interpreter. */
  readonly interpreter?: string;
  changeDirectory(path: string): string;
  changeEnvironment(change: EnvironmentChange): string;
}

/** JSON is a literal in each of them. Nothing that these define stays visible to the code cells. */
const languages: Partial<Record<string, Language>> = {
  python: {
    get prepare() {
      return programText('bound_output.py', import.meta.url);
    },
    interpreter: "type('', (), {'__repr__': lambda self: __import__('sys').executable})()",
    changeDirectory: (path) => `__import__('os').chdir(${JSON.stringify(path)})`,
    changeEnvironment: ({ set, unset }) =>
      [
        `__import__('os').environ.update(${JSON.stringify(set)})`,
        ...unset.map((name) => `__import__('os').environ.pop(${JSON.stringify(name)}, None)`),
      ].join('\n'),
  },
  javascript: node(),
  typescript: node(),
  bash: {
    changeDirectory: (path) => `cd -- ${quote(path)}`,
    changeEnvironment: ({ set, unset }) =>
      [
        ...Object.entries(set).map(([name, value]) => `export ${name}=${quote(value)}`),
        ...unset.map((name) => `unset ${name}`),
      ].join('\n'),
  },
};

export function languageOf(name: string): Language | undefined {
  return languages[name.toLowerCase()];
}

function node(): Language {
  return {
    changeDirectory: (path) => `process.chdir(${JSON.stringify(path)});`,
    changeEnvironment: ({ set, unset }) =>
      [
        `Object.assign(process.env, ${JSON.stringify(set)});`,
        ...unset.map((name) => `delete process.env[${JSON.stringify(name)}];`),
      ].join('\n'),
  };
}

/** What code cells of a language need besides the protocol: how a kernel follows the cell, in its own words. */
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

/** JSON is a literal in each of them. Nothing that these define stays visible to the cells. */
const languages: Partial<Record<string, Language>> = {
  python: {
    // Output leaves in pieces of a size that both sides can hold, also when a cell prints without end.
    prepare: `
def _prepare(limit=524288):
    import sys
    def bound(stream):
        write, count = stream.write, 0
        def bounded(text):
            nonlocal count
            for start in range(0, max(len(text), 1), limit):
                piece = text[start:start + limit]
                write(piece)
                count += len(piece)
                if count >= limit:
                    count = 0
                    stream.flush()
            return len(text)
        stream.write = bounded
    bound(sys.stdout)
    bound(sys.stderr)
_prepare()
del _prepare`,
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

/** Functions as source, for tools without a module to load them from. */
import { type Expression, type Node, parseExpressionAt } from 'acorn';
import { analyze } from 'eslint-scope';
import { WorkcellError } from '../../protocol/index.js';

/**
 * The source of a function as an expression. A function that uses outer variables would not find them in the cell, so
 * it refuses such a function and names the variables.
 */
export function functionSource(name: string, execute: unknown): string {
  const text = Function.prototype.toString.call(execute);
  const source = asExpression(text);
  if (source === undefined) {
    throw refuse(
      name,
      'its function has no source that could be shipped: it is bound, or part of the system',
    );
  }
  const captured = freeNames(source).filter((free) => !isGlobal(free));
  if (captured.length === 0) return source;
  const list = captured.map((free) => `"${free}"`).join(', ');
  throw refuse(name, `its function uses ${list} from outside itself`);
}

/** A method is an expression only inside an object. */
function asExpression(text: string): string | undefined {
  for (const source of [`(${text})`, `Object.values({ ${text} })[0]`]) {
    if (parse(source) !== undefined) return source;
  }
  return undefined;
}

function parse(source: string): Expression | undefined {
  try {
    return parseExpressionAt(source, 0, { ecmaVersion: 'latest', sourceType: 'module', ranges: true });
  } catch {
    return undefined;
  }
}

/** Names that nothing in the source declares. */
function freeNames(source: string): string[] {
  const expression = parse(source);
  if (expression === undefined) return [];
  const statement = {
    type: 'ExpressionStatement',
    expression,
    start: 0,
    end: source.length,
    range: [0, source.length],
  };
  const program = {
    ...statement,
    type: 'Program',
    sourceType: 'module',
    body: [statement],
  } as unknown as Node;
  const { globalScope } = analyze(program as never, { ecmaVersion: 2024, sourceType: 'module' });
  const names = (globalScope?.through ?? []).map(({ identifier }) => (identifier as { name: string }).name);
  return [...new Set(names)];
}

function isGlobal(name: string): boolean {
  return name in globalThis || name === 'arguments' || name === 'undefined';
}

function refuse(name: string, reason: string): WorkcellError {
  return new WorkcellError(
    'invalid-tool',
    `Tool "${name}" cannot be shipped: ${reason}. Put it in a module and name that as entry point: runtime.add(tool, './my-tools.ts').`,
    { details: { tool: name } },
  );
}

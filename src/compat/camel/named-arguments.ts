import { WorkcellError } from '../../protocol/index.js';
import type { ServedTool } from './camel-app.js';

/** Arguments by name. Those by position take the parameters in the order of the schema, as in the signature. */
export function namedArguments(tool: ServedTool, args: unknown, kwargs: unknown): Record<string, unknown> {
  if (!Array.isArray(args)) throw refuse(tool, '"args" must be a list');
  if (typeof kwargs !== 'object' || kwargs === null || Array.isArray(kwargs))
    throw refuse(tool, '"kwargs" must be an object');
  const names = Object.keys((tool.parameters.properties as object | undefined) ?? {});
  if (args.length > names.length)
    throw refuse(tool, `it takes ${names.length} positional arguments, and ${args.length} were given`);
  const twice = names.slice(0, args.length).find((name) => Object.hasOwn(kwargs, name));
  if (twice !== undefined) throw refuse(tool, `"${twice}" was given by position and by name`);
  return { ...Object.fromEntries(args.map((value, index) => [names[index] ?? '', value])), ...kwargs };
}

function refuse({ name }: ServedTool, reason: string): WorkcellError {
  return new WorkcellError('invalid-arguments', `${name}: ${reason}.`, { details: { tool: name } });
}

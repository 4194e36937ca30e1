/** What the module `workcell` is inside a cell: enough to declare tools and to tell errors apart. */
import { type Definition, toolMarker } from './collect.js';

export function tool(definition: Definition): object {
  return { ...definition, [toolMarker]: true, definition };
}

const errorMarker = Symbol.for('workcell.error');

export class WorkcellError extends Error {
  readonly code: string;
  readonly details: Record<string, unknown>;

  constructor(
    code: string,
    message: string,
    options: { details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'WorkcellError';
    this.code = code;
    this.details = options.details ?? {};
    Object.defineProperty(this, errorMarker, { value: true });
  }

  static isInstance(value: unknown): value is WorkcellError {
    return typeof value === 'object' && value !== null && (errorMarker in value || 'code' in value);
  }
}

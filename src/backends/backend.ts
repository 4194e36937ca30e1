/** The contract of a backend: it starts cells, and where the place can, finds and lists them. */
import { z } from 'zod';
import type { LoadedPlugin } from '../plugins/load.js';
import {
  type Cell,
  describeIssues,
  type IsolationTier,
  type StatusUpdate,
  WorkcellError,
} from '../protocol/index.js';

export interface StartContext {
  readonly id: string;
  readonly onStatus: (update: StatusUpdate) => void;
  readonly signal?: AbortSignal | undefined;
  /** What the executor knows besides its own actions. */
  readonly plugins?: readonly LoadedPlugin[] | undefined;
}

/** Whether a backend can start cells on this machine, and what it would enforce. */
export interface Probe {
  readonly available: boolean;
  readonly tier: IsolationTier;
  /** What a cell would enforce, or why none can be started. */
  readonly summary: string;
  /** Commands or settings that would help, one a line. */
  readonly advice: readonly string[];
}

export interface Backend<Shape extends z.ZodRawShape = z.ZodRawShape> {
  readonly type: string;
  readonly options: z.ZodObject<Shape, z.core.$strict>;
  probe(): Promise<Probe>;
  start(options: unknown, context: StartContext): Promise<Cell>;
  attach?(id: string, context: StartContext): Promise<Cell>;
  list?(): Promise<{ id: string; status: string }[]>;
}

/** Declares a backend. Options are strict and are checked here, once, for all of them. */
export function defineBackend<Shape extends z.ZodRawShape>(definition: {
  type: string;
  options: Shape;
  probe(): Promise<Probe>;
  start(options: z.output<z.ZodObject<Shape>>, context: StartContext): Promise<Cell>;
  attach?(id: string, context: StartContext): Promise<Cell>;
  list?(): Promise<{ id: string; status: string }[]>;
}): Backend<Shape> {
  const schema = z.strictObject(definition.options);
  return {
    ...definition,
    options: schema,
    start(options, context) {
      const result = schema.safeParse(options);
      if (!result.success) {
        throw new WorkcellError(
          'invalid-config',
          `The options of backend "${definition.type}" do not fit: ${describeIssues(result.error)}. Accepted: ${Object.keys(definition.options).join(', ')}.`,
          { details: { backend: definition.type } },
        );
      }
      return definition.start(result.data as z.output<z.ZodObject<Shape>>, context);
    },
  };
}

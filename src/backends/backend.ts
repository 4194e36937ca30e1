/** The contract of a backend: it starts cells, and where the place can, finds and lists them. */
import { z } from 'zod';
import type { LoadedPlugin } from '../cell/plugins/load-plugins.js';
import {
  type Cell,
  describeIssues,
  type Fact,
  type IsolationTier,
  type NetworkSecret,
  type Observation,
  type StatusUpdate,
  WorkcellError,
} from '../protocol/index.js';
import { didYouMean, nearest } from '../protocol/nearest.js';

/** What a start, or an attachment to a cell, gets besides its options. */
export interface StartContext {
  /** Of the cell: letters and digits, unique. */
  readonly id: string;
  /** Reports a step that takes long, such as a build. */
  readonly onStatus: (update: StatusUpdate) => void;
  /** Cancels the start. */
  readonly signal?: AbortSignal | undefined;
  /** Settles when the record of the cell is open, for a backend that could prevent opening it. */
  readonly recording?: (() => Promise<void>) | undefined;
  /** The plugins of the executor. */
  readonly plugins?: readonly LoadedPlugin[] | undefined;
  /** What the gateway of a cell with network rules puts into requests. */
  readonly networkSecrets?: readonly NetworkSecret[] | undefined;
  /** Directories to show as the workspace, one over the other, for a backend with `overlays`. */
  readonly overlay?: WorkspaceOverlay | undefined;
}

/** What a look at a cell gets besides the place. */
export type StatsContext = Pick<StartContext, 'signal'>;

/** An overlay of the kernel's: the cell reads all layers and writes to the upper one. */
export interface WorkspaceOverlay {
  /** Topmost first. */
  readonly lower: readonly string[];
  readonly upper: string;
  /** Empty, on the file system of the upper layer. */
  readonly work: string;
  /** An empty directory to mount it on. */
  readonly merged: string;
  /** How much the upper layer may hold. Then it and `work` are in a file system of this size, which ends with the cell. */
  readonly limit?: OverlayLimit | undefined;
}

export interface OverlayLimit {
  /** An empty directory to mount that file system on; `upper` and `work` are made in it. */
  readonly place: string;
  readonly bytes: number;
  /** Names, those of directories and links included. */
  readonly files: number;
}

/** Whether a backend can start cells on this machine, and what it would enforce. */
export interface Probe {
  readonly available: boolean;
  readonly tier: IsolationTier;
  /** Where the probe can tell them without a start. */
  readonly facts?: readonly Fact[];
  /** What a cell would enforce, or why none can start. */
  readonly summary: string;
  /** Commands or settings that would help, one a line. */
  readonly advice: readonly string[];
}

/** A reference to a kept cell: `listCells` returns it, `attachRuntime` takes it. Plain JSON. */
export interface CellRef {
  readonly backend: string;
  /** Where its cells are, in the form of the backend's schema. */
  readonly place: Readonly<Record<string, unknown>>;
  readonly id: string;
}

/** A cell that somebody started with `keepAlive`, as far as its backend can tell. */
export interface CellInfo extends CellRef {
  /** `stopped` starts again when attached to; `lost` is dead, or out of reach. */
  readonly status: 'running' | 'paused' | 'stopped' | 'lost';
  readonly startedAt?: Date | undefined;
  /** Of the machine that the place is on. */
  readonly workspace?: string | undefined;
  readonly isolation?: IsolationTier | undefined;
  /** The labels that it started with. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** The process that works in it now; others cannot attach. */
  readonly heldBy?: number | undefined;
}

/** Starts cells, and where the place can, finds and lists them. `defineBackend` makes one. */
export interface Backend<
  Shape extends z.ZodRawShape = z.ZodRawShape,
  Place extends z.ZodRawShape = z.ZodRawShape,
> {
  /** Its name: in messages, in sections of a configuration, in the cells it starts. */
  readonly type: string;
  /** What `createRuntime`, its section and the command line take. */
  readonly options: z.ZodObject<Shape, z.core.$strict>;
  /** The options that say where its cells are. */
  readonly place: z.ZodObject<Place, z.core.$strict>;
  /** The options that are secrets: they have no flag, and no reference to a cell contains them. */
  readonly secrets?: readonly string[] | undefined;
  /** Its cells are a vendor's, who is asked for them only when the backend is named or configured. */
  readonly elsewhere?: boolean | undefined;
  /** All its runtimes may work in one workspace, so it has no forks. */
  readonly sharesWorkspace?: boolean | undefined;
  /** Whether nothing that one sees at a glance, without starting a process, speaks against a start here. */
  mayStart?(): boolean;
  /** Whether it can start cells here: in the place of which the caller knows a part. */
  probe(place?: Readonly<Record<string, unknown>>): Promise<Probe>;
  /** Whether a workspace can be such an overlay here. Nothing is left mounted. */
  overlays?(overlay: WorkspaceOverlay): Promise<boolean>;
  /** Starts a cell. Ends what it began and could not finish. */
  start(options: unknown, context: StartContext): Promise<Cell>;
  /** Works in a kept cell. */
  attach?(id: string, place: unknown, context: StartContext): Promise<Cell>;
  /** The kept cells there. */
  list?(place: unknown): Promise<CellInfo[]>;
  /** What a running kept cell uses, also while another program works in it. */
  stats?(id: string, place: unknown, context: StatsContext): Promise<Observation<'stats'>>;
}

/** The part of a backend's options that `attach` and `list` get. */
type PlaceOf<Shape extends z.ZodRawShape, Name extends keyof Shape> = z.output<
  z.ZodObject<Pick<Shape, Name>>
>;

/** A backend's description of a cell; the caller already knows where it is. */
export type FoundCell = Omit<CellInfo, 'backend' | 'place'>;

/** A backend as its author writes it. It gets checked options, with their defaults. */
export interface BackendDefinition<Shape extends z.ZodRawShape, Name extends keyof Shape & string> {
  /** In lower case, with hyphens. */
  readonly type: string;
  /** The schema of each option. `workspace`, `env` and `keepAlive` mean the same on every backend that has them. */
  readonly options: Shape;
  /** The options that say where its cells are. Default: none. */
  readonly place?: readonly Name[];
  /** The options that are secrets: they get no flag, and no reference to a cell contains them. */
  readonly secrets?: readonly (keyof Shape & string)[];
  /** Its cells are a vendor's, which is asked for them only when the backend is named or configured. */
  readonly elsewhere?: boolean;
  /** All its runtimes may work in one workspace, so it has no forks. */
  readonly sharesWorkspace?: boolean;
  /** Whether nothing that one sees at a glance, without starting a process, speaks against a start here. */
  mayStart?(): boolean;
  /** Whether it can start cells here, and what they would enforce. Leaves nothing behind. */
  probe(place: Partial<PlaceOf<Shape, Name>>): Promise<Probe>;
  /** For a backend whose cells take `overlay`: whether this one can be had here. */
  overlays?(overlay: WorkspaceOverlay): Promise<boolean>;
  /** Starts a cell. Ends what it began and could not finish. */
  start(options: z.output<z.ZodObject<Shape>>, context: StartContext): Promise<Cell>;
  /** Works in a cell that somebody started with `keepAlive`, and takes its lease. */
  attach?(id: string, place: PlaceOf<Shape, Name>, context: StartContext): Promise<Cell>;
  /** The cells that you can attach to, and the lost ones. */
  list?(place: PlaceOf<Shape, Name>): Promise<FoundCell[]>;
  /**
   * What a running kept cell uses, for `workcell top`: without its lease and without an event, also while another program
   * works in it. Default: top attaches for a moment to a cell that is free.
   */
  stats?(id: string, place: PlaceOf<Shape, Name>, context: StatsContext): Promise<Observation<'stats'>>;
}

/** Declares a backend. Options are strict; this checks them once, for all backends. */
export function defineBackend<Shape extends z.ZodRawShape, const Name extends keyof Shape & string = never>(
  definition: BackendDefinition<Shape, Name>,
): Backend<Shape, Pick<Shape, Name>> {
  const { attach, list, stats, ...given } = definition;
  const { type } = given;
  const schema = z.strictObject(definition.options);
  const names: readonly string[] = definition.place ?? [];
  const secrets: readonly string[] = definition.secrets ?? [];
  const place = z.strictObject(
    Object.fromEntries(Object.entries(definition.options).filter(([key]) => names.includes(key))) as Pick<
      Shape,
      Name
    >,
  );
  const checkPlace = (where: unknown) => check(type, place, where) as PlaceOf<Shape, Name>;
  return {
    ...given,
    options: schema,
    place,
    probe: (where = {}) => definition.probe(where as Partial<PlaceOf<Shape, Name>>),
    async start(options, context) {
      return definition.start(check(type, schema, options) as z.output<z.ZodObject<Shape>>, context);
    },
    ...(attach !== undefined && {
      attach: async (id, where, context) => attach(id, checkPlace(where), context),
    }),
    ...(stats !== undefined && {
      stats: async (id, where, context) => stats(id, checkPlace(where), context),
    }),
    ...(list !== undefined && {
      async list(where) {
        const checked = checkPlace(where);
        const found: unknown = await list(checked);
        if (!Array.isArray(found))
          throw new WorkcellError('invalid-config', `The list of backend "${type}" did not give an array.`, {
            details: { backend: type },
          });
        const told = Object.entries(checked).filter(([name]) => !secrets.includes(name));
        const shown = Object.fromEntries(told);
        return found.map((cell: FoundCell) => ({ ...cell, backend: type, place: shown }));
      },
    }),
  };
}

/** The option that the author of an unknown one most likely meant. */
function meantBy({ issues }: z.ZodError, accepted: readonly string[]): string | undefined {
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys' || issue.path.length > 0) continue;
    for (const key of issue.keys) {
      const meant = nearest(key, accepted);
      if (meant !== undefined) return meant;
    }
  }
  return undefined;
}

function check(type: string, schema: z.ZodObject, given: unknown): unknown {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const accepted = Object.keys(schema.shape);
  // What is wrong within an option is not mended by another one.
  const isWithin = result.error.issues.every(
    ({ path, code }) => path.length > (code === 'unrecognized_keys' ? 0 : 1),
  );
  const others = ` Accepted: ${accepted.join(', ') || 'none'}.`;
  throw new WorkcellError(
    'invalid-config',
    `The options of backend "${type}" are not valid: ${describeIssues(result.error)}.${didYouMean(meantBy(result.error, accepted))}${isWithin ? '' : others}`,
    { details: { backend: type } },
  );
}

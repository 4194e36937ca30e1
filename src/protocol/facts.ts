/**
 * The facts behind an isolation tier: each has a code, says whether the cell enforces it, and has values. Only this
 * file turns them into sentences.
 */
import * as z from 'zod';

/** One limit: how much, per what, and who enforces it. `null`: no separate number. */
const limit = {
  limit: z.number().nullable(),
  /** `cell`: for all of its processes together. `process`, `place`: for each of them. `user`: shared with others of the same user. */
  scope: z.enum(['cell', 'process', 'place', 'user']),
  by: z.enum([
    'cgroup1',
    'cgroup2',
    'engine',
    'namespace',
    'rlimit',
    'mount',
    'user',
    'memory',
    'watch',
    'nobody',
  ]),
  /** The whole cell ends when it reaches the limit. */
  endsCell: z.boolean().optional(),
};

type Limit = z.infer<z.ZodObject<typeof limit>>;

interface Definition<Shape extends z.ZodRawShape> {
  readonly values: z.ZodObject<Shape>;
  say(values: z.infer<z.ZodObject<Shape>>, enforced: boolean): string;
}

function fact<Shape extends z.ZodRawShape>(shape: Shape, say: Definition<Shape>['say']): Definition<Shape> {
  return { values: z.object(shape), say };
}

const definitions = {
  kernel: fact({}, (_, enforced) =>
    enforced
      ? 'Its own: gVisor answers its system calls.'
      : 'That of the machine, with namespaces of its own.',
  ),
  namespaces: fact({ own: z.array(z.string()), shared: z.array(z.string()) }, ({ own, shared }) =>
    join(
      `Of its own: ${own.join(', ') || 'none'}.`,
      shared.length > 0 && `Shared with the machine: ${shared.join(', ')}.`,
    ),
  ),
  seccomp: fact({}, (_, enforced) =>
    enforced ? 'A filter refuses system calls that a cell has no use for.' : 'No filter is in force.',
  ),
  privileges: fact(
    { capabilities: z.boolean(), noNewPrivileges: z.boolean() },
    ({ capabilities, noNewPrivileges }) =>
      `Commands ${capabilities ? 'could gain' : 'have no'} capabilities; no_new_privs ${noNewPrivileges ? 'set' : 'not set'}.`,
  ),
  user: fact({ uid: z.int(), sharedWith: z.array(z.string()) }, ({ uid, sharedWith }, enforced) =>
    enforced
      ? `Commands run as user ${uid} of the machine, which nothing else runs as.`
      : `Commands run as user ${uid} of the machine, as do: ${sharedWith.join(', ')}.`,
  ),
  executor: fact({}, (_, enforced) =>
    enforced
      ? 'Commands cannot signal the executor, read its memory or environment, or take its place.'
      : 'Commands run as the user of the executor, and could end it or take its place.',
  ),
  network: fact(
    {
      kind: z.enum(['none', 'rules', 'machine', 'engine']),
      networks: z.array(z.string()),
      publishedPorts: z.int(),
    },
    ({ kind, networks, publishedPorts }) =>
      join(
        kind === 'none' && 'None but its own loopback.',
        kind === 'rules' && 'What its rules allow, through a gateway that decides on each connection.',
        kind === 'machine' && 'That of the machine, its loopback included.',
        kind === 'engine' && `The networks ${networks.join(', ')} of the engine, and what they lead to.`,
        publishedPorts > 0 && `${publishedPorts} of its ports are open on this machine's loopback.`,
      ),
  ),
  files: fact(
    { system: z.enum(['read-only', 'copy', 'machine']), writable: z.array(z.string()) },
    ({ system, writable }) => {
      if (writable.includes('/')) return 'File verbs and commands reach the whole machine.';
      if (system === 'machine') return 'File verbs stay in the workspace; commands are not held there.';
      const also = writable.length > 0 ? `, ${writable.join(', ')}` : '';
      return `The system is ${system === 'copy' ? 'a copy of its own' : 'read-only'}. Of the machine only the workspace${also} can be written.`;
    },
  ),
  'workspace-size': fact({}, (_, enforced) =>
    enforced ? 'Limited.' : 'Not limited: the workspace is a directory of the machine.',
  ),
  'hard-links': fact({}, (_, enforced) =>
    enforced
      ? 'No file of the workspace has a name outside of it.'
      : 'Commands write through hard links that the workspace has to files outside of it; file verbs replace the name instead.',
  ),
  'set-id-files': fact({}, (_, enforced) =>
    enforced
      ? 'Commands cannot make files that run with the rights of their owner or group.'
      : 'Commands can make files that run outside with the rights of their owner or group.',
  ),
  devices: fact({ gpus: z.array(z.string()) }, ({ gpus }, enforced) =>
    enforced
      ? 'None of the machine but those that harm nobody, such as null and random.'
      : `GPUs: ${gpus.join(', ')}. Commands reach their driver in the kernel of the machine. Nothing limits the memory and the time of a GPU, and others may use the same one.`,
  ),
  memory: fact({ ...limit }, (values) => {
    const sentence = sayLimit(values, 'bytes');
    return values.by === 'watch'
      ? `${sentence} Memory that no process has mapped (memfds, socket buffers, shared pages left behind) is not counted.`
      : sentence;
  }),
  processors: fact({ ...limit }, (values) => sayLimit(values, 'processors')),
  processes: fact({ ...limit }, (values) => sayLimit(values, 'processes and threads')),
  scratch: fact({ ...limit, places: z.array(z.string()) }, (values) =>
    sayLimit(values, 'bytes', values.places.join(', ')),
  ),
  'open-files': fact({ ...limit }, (values) => sayLimit(values, 'descriptors')),
  inotify: fact({ ...limit, watches: z.number().nullable() }, (values) =>
    join(
      sayLimit(values, 'inotify instances'),
      values.watches !== null && `${values.watches} watches in them.`,
    ),
  ),
  timers: fact({ ...limit }, (values) => sayLimit(values, 'timers and queued signals')),
  'message-queues': fact({ ...limit }, (values) => sayLimit(values, 'bytes of POSIX message queues')),
  'shared-memory': fact({ ...limit }, (values) => sayLimit(values, 'bytes of System V segments')),
} as const;

type Definitions = typeof definitions;

/** The name of an isolation fact. */
export type FactCode = keyof Definitions;

/** One thing that a cell enforces or does not, with its values. */
export type Fact = {
  [Code in FactCode]: {
    readonly code: Code;
    readonly enforced: boolean;
    readonly values: z.infer<Definitions[Code]['values']>;
  };
}[FactCode];

/** The names of all isolation facts. */
export const factCodes = Object.keys(definitions) as [FactCode, ...FactCode[]];

/** Refuses values of an unknown code, or that do not belong to the code. */
export const factSchema = z.discriminatedUnion(
  'code',
  factCodes.map((code) =>
    z.object({ code: z.literal(code), enforced: z.boolean(), values: definitions[code].values }),
  ) as unknown as [z.ZodObject<{ code: z.ZodLiteral<FactCode> }>],
) as unknown as z.ZodType<Fact>;

/** A fact as a sentence for people. Programs read its code and values. */
export function describeFact({ code, enforced, values }: Fact): string {
  const { say } = definitions[code] as Definition<z.ZodRawShape>;
  return `${code}: ${say(values as never, enforced)}`;
}

const scopes: Readonly<Record<Limit['scope'], string>> = {
  cell: 'for the cell as a whole',
  process: 'for each process',
  place: 'for each of',
  user: 'for all that runs as its user',
};

const enforcers: Readonly<Record<Limit['by'], string>> = {
  cgroup1: 'by cgroup v1',
  cgroup2: 'by cgroup v2',
  engine: 'by the engine',
  namespace: 'by a namespace of its own',
  rlimit: 'by a resource limit',
  mount: 'by the size of the mount',
  user: 'by a user of its own: as much as the machine gives one user',
  memory: 'by counting as its memory',
  watch: 'and for their sum by a watch that looks ten times a second',
  nobody: 'not enforced here',
};

function sayLimit({ limit: value, scope, by, endsCell }: Limit, unit: string, places = ''): string {
  if (value === null && (by === 'user' || by === 'memory')) return `${capital(enforcers[by])}.`;
  if (value === null) return 'Not limited.';
  const where = [scopes[scope], places].filter(Boolean).join(' ');
  return join(
    `${value} ${unit}, ${where}, ${enforcers[by]}.`,
    endsCell === true && 'The cell ends when it is reached.',
  );
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function join(...sentences: readonly (string | false)[]): string {
  return sentences.filter(Boolean).join(' ');
}

/** Creates the runtime of a command, in a fresh or a kept cell, with its log and with progress on a terminal. */
import type { CellPlace } from '../cells.js';
import type {
  AttachRuntimeOptions,
  CreateRuntimeOptions,
  NetworkOption,
  Runtime,
  StatusUpdate,
} from '../index.js';
import type { Config } from '../protocol/config.js';
import type { PolicyOptions } from '../runtime/security/index.js';
import { type CellOptions, gpuGiven } from './cell-options.js';
import { createLog, type Log, loggerOf } from './cli-log.js';
import { Progress } from './start-progress.js';

interface Started {
  readonly runtime: Runtime;
  readonly log: Log;
  /** Ends the cell, or detaches from a kept one. */
  end(): Promise<void>;
}

export async function startRuntime(
  options: CellOptions,
  signal: AbortSignal,
  given: Given = {},
): Promise<Started> {
  const { loadConfig } = await import('../config/load-config.js');
  const { config: file, verbose, logLevel } = options;
  const { values, notHonoured } = await loadConfig({ cwd: process.cwd(), env: process.env, file });
  const log = createLog(logLevel ?? (verbose ? 'debug' : values.log.level));
  for (const { file: foreign, key, reason } of notHonoured)
    if (key === undefined)
      log('warn', `The configuration file is not read: it ${reason}.`, { file: foreign });
  const progress = new Progress();
  const onStatus = (update: StatusUpdate) => progress.show(update.message);
  try {
    const { place, offersTools = false, runsOnly = false, policy, ...trusted } = given;
    const common = {
      config: file,
      onStatus,
      logger: loggerOf(log),
      signal,
      ...trusted,
      policy: await settledPolicy(policy, values.security),
      ...((options.ask || values.network.ask) && {
        askNetwork: (await import('./terminal-policy.js')).askAboutHosts(),
      }),
      // Do not load tools that the command offers to nobody, nor plugins that nobody chose and nobody can use.
      ...(!offersTools && { tools: [] }),
      ...(runsOnly && isOwn(options) && values.plugins === undefined && { plugins: [] }),
    };
    const unplaced = options.backend === undefined && values.backend === undefined;
    const runtime = await (options.attach === undefined
      ? create(options, { ...common, ...(unplaced && place?.()) }, values)
      : attach(options, common));
    return { runtime, log, end: () => end(runtime, options) };
  } finally {
    progress.end();
  }
}

type Trusted = Pick<CreateRuntimeOptions, 'policy' | 'guards' | 'secrets' | 'plugins'>;

/** What a command itself says about the runtime. */
type Given = Trusted & {
  /** Where the cell is when neither the command line nor a configuration names a backend. */
  readonly place?: () => object;
  /** The command offers the registered tools. */
  readonly offersTools?: boolean;
  /** It runs commands, and no action of a plugin. */
  readonly runsOnly?: boolean;
};

/** Whether the cell ends with this command, so that nobody else works in it. */
function isOwn({ keepAlive, attach }: CellOptions): boolean {
  return !keepAlive && attach === undefined;
}

/** A configured decision about a risk wins over an option's default. */
async function settledPolicy(
  given: Trusted['policy'],
  { on_risk: onRisk, confirm }: Config['security'],
): Promise<Trusted['policy']> {
  if (given !== undefined && 'judge' in given) return given;
  const asked = confirm === 'terminal' ? (await import('./terminal-policy.js')).askOnTerminal() : {};
  if (given === undefined && asked.confirm === undefined) return undefined;
  return { ...asked, ...given, onRisk: { ...given?.onRisk, ...onRisk } as PolicyOptions['onRisk'] };
}

type Common = Pick<
  CreateRuntimeOptions,
  'config' | 'onStatus' | 'logger' | 'signal' | 'tools' | 'plugins' | 'askNetwork'
> &
  Trusted;

async function create(options: CellOptions, common: Common, values: Config): Promise<Runtime> {
  const { createRuntime } = await import('../create-runtime.js');
  const { givenBackendOptions } = await import('./backend-options.js');
  const { backend, workspace, keepAlive, env } = options;
  const gpu = gpuGiven(options);
  const own = givenBackendOptions(options);
  return createRuntime({
    ...own,
    ...(gpu !== undefined && { gpu }),
    // The configuration checks the typed value, and names the accepted ones.
    backend,
    minIsolation: demandGiven(options),
    workspace: options.overlay ? { from: workspace ?? process.cwd(), mode: 'overlay' } : workspace,
    ...(await networkGiven(options, own.network, values)),
    ...(env !== undefined && { env }),
    ...(keepAlive && { keepAlive }),
    ...common,
  } as CreateRuntimeOptions);
}

async function attach(options: CellOptions, common: Common): Promise<Runtime> {
  const { attachRuntime } = await import('../attach-runtime.js');
  const { findCell } = await import('./find-cell.js');
  const { attach: named = '', config } = options;
  await refuseShape(options);
  const cell = await findCell(named, { config, ...(await placeGiven(options)) });
  return attachRuntime(cell, {
    ...common,
    config,
    minIsolation: demandGiven(options),
  } as AttachRuntimeOptions);
}

/** Rules on the command line, above those in the settings. */
async function networkGiven(
  { allow = [], deny = [], ask, unenforced }: CellOptions,
  network: unknown,
  { network: settings }: Config,
): Promise<{ network?: NetworkOption }> {
  const hasRules = allow.length > 0 || deny.length > 0 || ask !== undefined;
  if (!hasRules && unenforced === undefined) return {};
  const { isPreset, rulesIn, withoutOwnPresets } = await import('../config/network-settings.js');
  const said = rulesIn(settings);
  if (!hasRules && said === undefined) return {};
  if (network !== undefined) {
    const { WorkcellError } = await import('../protocol/errors.js');
    throw new WorkcellError(
      'invalid-config',
      'The option --network says what the cell reaches, and --allow, --deny or --ask say otherwise. Leave out either.',
      { details: { option: 'network' } },
    );
  }
  const [presets, rules] = [true, false].map((is) => allow.filter((word) => isPreset(word, settings) === is));
  const known = withoutOwnPresets(presets ?? [], settings);
  return {
    network: {
      ...said,
      allow: [...(said?.allow ?? []), ...(rules ?? []), ...known.allow],
      preset: [...(said?.preset ?? []), ...known.preset],
      deny,
      ask: ask ?? said?.ask ?? false,
      ...(unenforced !== undefined && { unenforced }),
    },
  };
}

function demandGiven({ minIsolation: tier, minFact: facts }: CellOptions) {
  return { tier, facts };
}

/** The start of a cell fixes its shape, so refuse options for it. */
async function refuseShape(options: CellOptions): Promise<void> {
  const { givenBackendOptions } = await import('./backend-options.js');
  const given = givenBackendOptions(options);
  const shaping = ['workspace', 'overlay', 'env', 'allow', 'deny', 'ask', 'unenforced'] as const;
  const names = [
    ...shaping.filter((name) => options[name] !== undefined),
    ...(gpuGiven(options) === undefined ? [] : ['gpu']),
    ...Object.keys(given),
  ];
  const place = await placeGiven(options);
  const name = names.find((option) => !Object.hasOwn(place, option) && option !== 'keepAlive');
  if (name === undefined) return;
  const { WorkcellError } = await import('../protocol/errors.js');
  throw new WorkcellError(
    'invalid-config',
    `The option ${name} is for a new cell, and --attach works in an existing one. Leave out either.`,
    { details: { option: name } },
  );
}

/** The typed options for where the cell is. */
export async function placeGiven(options: CellOptions): Promise<CellPlace> {
  const { keepers, placeNames } = await import('../cells.js');
  const { givenBackendOptions, typedBackend } = await import('./backend-options.js');
  const named = Object.keys((await typedBackend(options.backend))?.place.shape ?? {});
  const names = [...placeNames(await keepers()), ...named];
  const given = Object.entries(givenBackendOptions(options)).filter(([name]) => names.includes(name));
  return { ...Object.fromEntries(given), backend: options.backend as CellPlace['backend'] };
}

/** Leaves a kept cell running. */
async function end(runtime: Runtime, { keepAlive, attach: attached }: CellOptions): Promise<void> {
  if (!keepAlive && attached === undefined) return runtime.close();
  await runtime.detach();
  if (!keepAlive) return;
  const { id } = runtime;
  process.stderr.write(
    `workcell: cell ${id} goes on. Work in it with --attach ${id}; end it with: workcell cells stop ${id}\n`,
  );
}

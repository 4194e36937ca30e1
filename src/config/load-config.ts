/** The effective configuration: files, then `WORKCELL_*`, then options, each above the previous one. */
import { lstatSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { z } from 'zod';
import type { Backend } from '../backends/backend.js';
import type { Config } from '../protocol/config.js';
import { WorkcellError } from '../protocol/errors.js';
import { didYouMean, nearest } from '../protocol/nearest.js';
import { changeMarked, choicesOf, toOptionNames, unwrap } from './config-schema.js';
import { generalSettings } from './config-settings.js';
import { type Entry, fromEnvironment, fromOptions } from './entries.js';
import { untrusted } from './file.js';
import { type FileEntries, type NotHonoured, readFiles, refuseSecrets, refuseWidening } from './layers.js';
import { type NamedBackend, OutsideBackends, resolveBackend } from './outside-backends.js';
import { isTable, type Table } from './plain-table.js';
import { describeProblems } from './problems.js';
import { redact } from './redact.js';

export interface LoadConfigOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * A file that must exist; `false`: neither files nor the environment. Default: `WORKCELL_CONFIG`, or the user's own
   * file and the project's.
   */
  readonly file?: string | false | undefined;
  /** Values by their key, such as `sandbox.timeout`; undefined values do not count. */
  readonly overrides?: Readonly<Table>;
  /** Drops the settings that a project may not make, instead of refusing the project. */
  readonly lenient?: boolean;
  /** A backend that code brings; its section and its variables count. */
  readonly backend?: Backend | undefined;
}

export interface LoadedConfig {
  readonly values: Config;
  /** Foreign backends that trusted sources name. */
  readonly outside: readonly NamedBackend[];
  /** The options that backends' own sections set, by the backend's type and by the option's name in code. */
  readonly backendOptions: Readonly<Record<string, Table>>;
  /** Where each value came from, by key: `default`, a path, a variable's name, or `option`. */
  readonly sources: Readonly<Record<string, string>>;
  /** The files that it read. */
  readonly files: readonly string[];
  /** The one of them that it found by searching. */
  readonly project: string | undefined;
  /** Settings in files that do not count. */
  readonly notHonoured: readonly NotHonoured[];
  /** The same by key, secrets hidden: what `workcell config` prints. */
  readonly shown: Readonly<Record<string, unknown>>;
}

const noFiles: FileEntries = { entries: [], files: [], project: undefined, notHonoured: [] };

/**
 * Reads and checks all sources. Throws `invalid-config` for an unknown key or a bad value in any of them. Throws
 * `config-untrusted` for a file found by searching that asks for more than it may, or that others may change.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const { cwd, overrides = {}, file, lenient = false } = options;
  const env = file === false ? {} : options.env;
  const outside = new OutsideBackends();
  if (options.backend !== undefined) outside.give(options.backend);
  outside.note(env.WORKCELL_BACKEND, { source: 'WORKCELL_BACKEND', from: undefined });
  outside.note(overrides.backend, { source: 'option', from: cwd });
  const { entries: written, ...read } =
    file === false ? noFiles : await readFiles({ cwd, env, file, check: checkEntry, outside, lenient });
  if (!lenient) refuseWidening(read.notHonoured);
  const given = [...(await fromEnvironment(env, outside)), ...(await fromOptions(overrides, outside))];
  for (const entry of given) {
    checkEntry(entry);
    refuseSecrets(entry, `chmod 600 FILE`);
  }
  const effective = new Map(
    [...written, ...given].map((entry) => [entry.setting.key, absolute(entry, cwd, read)]),
  );
  return { ...read, outside: outside.all, ...assemble(effective) };
}

/** Throws `invalid-config` for a value that its setting does not accept. */
export function checkEntry({ setting, value, source }: Entry): void {
  const { key, schema } = setting;
  const named = toOptionNames(value, schema);
  const result = schema.safeParse(named);
  if (result.success) return;
  const shown = redact(key, value);
  const accepted = acceptedBy(schema);
  const reason = accepted === undefined ? `: ${describeProblems(named, schema, result.error)}.` : '.';
  const advice = accepted === undefined ? '' : ` Accepted: ${accepted}.`;
  const meant = typeof value === 'string' ? didYouMean(nearest(value, choicesOf(schema))) : '';
  throw new WorkcellError(
    'invalid-config',
    `${key} = ${JSON.stringify(shown)} (from ${source}) is not accepted${reason}${meant}${advice}`,
    { details: { key, value: shown, source, accepted } },
  );
}

function acceptedBy(schema: z.ZodType): string | undefined {
  const choices = choicesOf(schema);
  return choices.length > 0 ? choices.join(', ') : unwrap(schema).description;
}

/** A path or package must mean the same wherever the program starts, so it starts at the place that names it. */
function absolute(entry: Entry, cwd: string, { files, project }: Omit<FileEntries, 'entries'>): Entry {
  const { setting, value, source } = entry;
  if (setting.key === 'backend') {
    const from = files.includes(source) ? dirname(source) : source === 'option' ? cwd : undefined;
    return { ...entry, value: resolveBackend(String(value), { source, from }) };
  }
  const base = files.includes(source) ? dirname(source) : cwd;
  if (source === project && mounts.test(setting.key))
    for (const path of pathsIn(value)) refuseLinks(entry, base, path);
  const place = (given: string) => {
    // A variable for the workspace exists to name the current directory.
    if (source === setting.variable && setting.key !== 'workspace' && !isAbsolute(given))
      throw refuseRelative(entry);
    const path = resolve(base, given);
    if (source === project) refuseLinks(entry, base, path);
    return path;
  };
  const changed = changeMarked(value, setting.schema, (text, { path, code, store }) => {
    if (code && source === project) throw refuseCode(entry);
    if (path) return place(text);
    const [, file] = (store && /^sqlite:(.+)$/s.exec(text)) || [];
    return file === undefined ? text : `sqlite:${place(file)}`;
  });
  return { ...entry, value: changed };
}

/** Trust covers the text of the file. Whoever works beside it can change the other one, and so what runs here. */
function refuseCode({ setting: { key }, source }: Entry): WorkcellError {
  return untrusted(
    source,
    `${key} in ${source} names a file that names programs to run on this machine, and its content is not part of what was trusted. Name it in your own configuration, as an option, or use --config ${source}.`,
  );
}

/** Settings of backends that show directories of this machine to a cell. */
const mounts = /\.(?:read_only|read_write|rootfs|volumes)$/;

/** A volume names the place inside, too, after a colon. */
function pathsIn(value: unknown): string[] {
  return [value]
    .flat()
    .map((given) => String(given).split(':')[0] ?? '')
    .filter(isAbsolute);
}

/** A variable holds in every directory, and anybody could have put something into one of them. */
function refuseRelative({ setting: { key }, value, source }: Entry): WorkcellError {
  return new WorkcellError(
    'invalid-config',
    `${key} = ${JSON.stringify(redact(key, value))} (from ${source}) is not accepted: a variable holds in every directory, so give an absolute path.`,
    { details: { key, source } },
  );
}

/** Trust covers the text of the file. Whoever works beside it could replace a directory by a link to another. */
function refuseLinks({ setting: { key }, source }: Entry, base: string, path: string): void {
  const below = relative(base, path);
  if (below === '' || below.startsWith('..')) return;
  let place = base;
  for (const name of below.split('/')) {
    place = join(place, name);
    if (!lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) continue;
    throw untrusted(
      source,
      `${key} in ${source} leads through the link ${place}, which is not part of what was trusted. Name the directory that is meant, or use --config ${source}.`,
    );
  }
}

/** The same for every load; unset values need no check. */
const defaults = generalSettings.reduce<{ values: Table; sources: Record<string, string>; shown: Table }>(
  (all, { key, schema }) => {
    const value: unknown = schema.parse(undefined);
    put(all.values, key, value);
    all.sources[key] = 'default';
    all.shown[key] = redact(key, value);
    return all;
  },
  { values: {}, sources: {}, shown: {} },
);

function assemble(
  effective: ReadonlyMap<string, Entry>,
): Pick<LoadedConfig, 'values' | 'backendOptions' | 'sources' | 'shown'> {
  const values = Object.fromEntries(
    Object.entries(defaults.values).map(([name, value]) => [name, isTable(value) ? { ...value } : value]),
  );
  const backendOptions: Record<string, Table> = {};
  const sources = { ...defaults.sources };
  const shown = { ...defaults.shown };
  for (const { setting, value, source } of effective.values()) {
    const { key, option, schema } = setting;
    if (option === undefined) put(values, key, schema.parse(value));
    else
      backendOptions[option.backend] = {
        ...backendOptions[option.backend],
        [option.name]: toOptionNames(value, schema),
      };
    sources[key] = source;
    shown[key] = redact(key, value);
  }
  return { values: values as Config, backendOptions, sources, shown };
}

/** `sandbox.timeout` stands in the table `sandbox`. */
function put(table: Table, key: string, value: unknown): void {
  const [section, name] = key.split('.') as [string, string?];
  if (name === undefined) {
    table[section] = value;
    return;
  }
  table[section] ??= {};
  (table[section] as Table)[name] = value;
}

/** The effective configuration: `workcell.toml`, then `WORKCELL_*`, then options, each above the one before. */
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { type Config, configSchema } from '../protocol/config.js';
import { WorkcellError } from '../protocol/errors.js';
import { describeIssues } from '../protocol/parse.js';
import { type Entry, fromEnvironment, fromFile, fromOptions } from './entries.js';
import { findConfigFile, readConfigFile } from './file.js';
import { didYouMean, nearest } from './nearest.js';
import { redact } from './redact.js';
import { choicesOf, toOptionNames, unwrap } from './schema.js';
import { generalSettings } from './settings.js';
import type { Table } from './table.js';

export interface LoadConfigOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A file that must exist; `false`: neither a file nor the environment. Default: `WORKCELL_CONFIG`, or the nearest one. */
  readonly file?: string | false | undefined;
  /** Values by their key, such as `sandbox.timeout`; what is undefined does not count. */
  readonly overrides?: Readonly<Table>;
}

export interface LoadedConfig {
  readonly values: Config;
  /** The options that backends' own sections set, by backend and by the option's name in code. */
  readonly backendOptions: Readonly<Record<string, Table>>;
  /** Where each value came from, by key: `default`, a path, a variable's name, or `option`. */
  readonly sources: Readonly<Record<string, string>>;
  /** The file that was read. */
  readonly file: string | undefined;
  /** The same by key, secrets hidden: what `workcell config` prints. */
  readonly shown: Readonly<Record<string, unknown>>;
}

/** Reads and checks all sources. An unknown key or a bad value in any of them throws `invalid-config`. */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const { cwd, overrides = {} } = options;
  const env = options.file === false ? {} : options.env;
  const file =
    options.file === false ? undefined : locate(options.file ?? (env.WORKCELL_CONFIG || undefined), cwd);
  const entries = [
    ...(file === undefined ? [] : await fromFile(file, readConfigFile(file))),
    ...(await fromEnvironment(env)),
    ...(await fromOptions(overrides)),
  ];
  for (const entry of entries) check(entry);
  const base = (source: string) => (source === file ? dirname(source) : cwd);
  const effective = new Map(entries.map((entry) => [entry.setting.key, absolute(entry, base(entry.source))]));
  return { file, ...assemble(effective) };
}

function locate(named: string | undefined, cwd: string): string | undefined {
  return named === undefined ? findConfigFile(cwd) : resolve(cwd, named);
}

function check({ setting, value, source }: Entry): void {
  const { key, schema } = setting;
  const result = schema.safeParse(toOptionNames(value, schema));
  if (result.success) return;
  const shown = redact(key, value);
  const accepted = acceptedBy(schema);
  const reason = accepted === undefined ? `: ${describeIssues(result.error)}.` : '.';
  const advice = accepted === undefined ? '' : ` Accepted: ${accepted}.`;
  const meant = typeof value === 'string' ? didYouMean(nearest(value, choicesOf(schema))) : '';
  throw new WorkcellError(
    // A name typed by a caller is a mistake in the call; one in a file or a variable is a mistake in the set-up.
    key === 'backend' && source === 'option' ? 'backend-unknown' : 'invalid-config',
    `${key} = ${JSON.stringify(shown)} (from ${source}) is not accepted${reason}${meant}${advice}`,
    { details: { key, value: shown, source, accepted } },
  );
}

function acceptedBy(schema: z.ZodType): string | undefined {
  const choices = choicesOf(schema);
  return choices.length > 0 ? choices.join(', ') : unwrap(schema).description;
}

/** A path means the same from wherever the program is started, so it starts where it is written. */
function absolute(entry: Entry, base: string): Entry {
  const { setting, value } = entry;
  if (setting.key === 'workspace') return { ...entry, value: resolve(base, String(value)) };
  const [, file] = setting.key === 'events.store' ? (/^sqlite:(.+)$/s.exec(String(value)) ?? []) : [];
  return file === undefined ? entry : { ...entry, value: `sqlite:${resolve(base, file)}` };
}

/** The same for every load; what is not set needs no check. */
const defaults = new Map(
  generalSettings.map(({ key, schema }) => {
    const value: unknown = schema.parse(undefined);
    return [key, { value, shown: redact(key, value) }];
  }),
);

function assemble(effective: ReadonlyMap<string, Entry>): Omit<LoadedConfig, 'file'> {
  const general: Record<string, Table | unknown> = {};
  const backendOptions: Record<string, Table> = {};
  const sources: Record<string, string> = {};
  const shown: Table = {};
  for (const setting of generalSettings) {
    const [section, name] = setting.key.split('.') as [string, string?];
    const entry = effective.get(setting.key);
    const value = entry?.value ?? defaults.get(setting.key)?.value;
    sources[setting.key] = entry?.source ?? 'default';
    shown[setting.key] =
      entry === undefined ? defaults.get(setting.key)?.shown : redact(setting.key, entry.value);
    if (name === undefined) general[section] = value;
    else general[section] = { ...(general[section] as Table | undefined), [name]: value };
  }
  for (const { setting, value, source } of effective.values()) {
    const { key, option, schema } = setting;
    if (option === undefined) continue;
    backendOptions[option.backend] = {
      ...backendOptions[option.backend],
      [option.name]: toOptionNames(value, schema),
    };
    sources[key] = source;
    shown[key] = redact(key, value);
  }
  return { values: configSchema.parse(general), backendOptions, sources, shown };
}

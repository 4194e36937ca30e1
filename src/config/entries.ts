/** The settings of each source with their values; throws for a name that is no setting. */
import type { Backend } from '../backends/backend.js';
import { backendNames, isBackendName, loadBackend } from '../backends/index.js';
import { WorkcellError } from '../protocol/errors.js';
import { didYouMean, nearest } from '../protocol/nearest.js';
import { fromText } from './config-schema.js';
import {
  backendSettings,
  backendsSection,
  generalSettings,
  type Setting,
  sameAs,
  sectionNames,
  variablePrefix,
} from './config-settings.js';
import type { OutsideBackends } from './outside-backends.js';
import { isTable, type Table } from './plain-table.js';

export interface Entry {
  readonly setting: Setting;
  readonly value: unknown;
  readonly source: string;
}

/** Variables that begin with `WORKCELL_` and are no settings: the file to read, and the mark of a cell's processes. */
const otherVariables = ['WORKCELL_CONFIG', 'WORKCELL_CELL'];

/** `outside`: backends of others that may have a section here. */
export async function fromFile(file: string, content: Table, outside: OutsideBackends): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const [key, value] of leaves(content, '', file)) {
    const setting = await findByKey(Object.hasOwn(sameAs, key) ? (sameAs[key] ?? key) : key, file, outside);
    if (entries.some((entry) => entry.setting.key === setting.key)) throw saidTwice(setting.key, file);
    entries.push({ setting, value, source: file });
  }
  return entries;
}

/** A key that can stand in two places may stand in only one of them. */
function saidTwice(key: string, file: string): WorkcellError {
  return new WorkcellError(
    'invalid-config',
    `${key} is set twice in ${file}, also as security.${key}. Leave out one of them.`,
    { details: { key, source: file } },
  );
}

/** Every key below the sections, with the section in front. */
function leaves(table: Table, prefix: string, file: string): [string, unknown][] {
  return Object.entries(table).flatMap(([name, value]): [string, unknown][] => {
    const key = `${prefix}${name}`;
    const isSection =
      sectionNames.some((section) => section === key || section.startsWith(`${key}.`)) ||
      (prefix === `${backendsSection}.` && isTable(value));
    if (!isSection) return [[key, value]];
    if (isTable(value)) return leaves(value, `${key}.`, file);
    throw new WorkcellError(
      'invalid-config',
      `${key} in ${file} must be a table: write [${key}] above its keys.`,
      {
        details: { key, source: file },
      },
    );
  });
}

export async function fromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  outside: OutsideBackends,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith('WORKCELL_') || otherVariables.includes(variable)) continue;
    const setting = await findByVariable(variable, outside);
    if (text === undefined || text === '') continue;
    entries.push({ setting, value: fromText(text, setting.schema), source: variable });
  }
  return entries;
}

export async function fromOptions(overrides: Readonly<Table>, outside: OutsideBackends): Promise<Entry[]> {
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined);
  return Promise.all(
    given.map(async ([key, value]) => ({
      setting: await findByKey(key, 'option', outside),
      value,
      source: 'option',
    })),
  );
}

async function findByKey(key: string, source: string, outside: OutsideBackends): Promise<Setting> {
  const general = generalSettings.find((setting) => setting.key === key);
  if (general !== undefined) return general;
  const section = key.slice(0, Math.max(0, key.lastIndexOf('.')));
  const type = section.startsWith(`${backendsSection}.`)
    ? section.slice(backendsSection.length + 1)
    : undefined;
  const backend = type === undefined ? undefined : await backendOf(type, outside);
  if (type !== undefined && backend === undefined) throw await unknownSection(section, source, outside);
  const own = backend === undefined ? [] : backendSettings(backend);
  const found = own.find((setting) => setting.key === key);
  if (found !== undefined) return found;
  const known = [...[...generalSettings, ...own].map((setting) => setting.key), ...Object.keys(sameAs)];
  const accepted =
    section === ''
      ? [...known.filter((name) => !name.includes('.')), ...sectionNames]
      : [...known, ...sectionNames].filter((name) => name.startsWith(`${section}.`));
  throw unknown(`The key ${key} (from ${source})`, key, source, accepted, known);
}

async function findByVariable(variable: string, outside: OutsideBackends): Promise<Setting> {
  const candidates = [...generalSettings];
  if (variable.startsWith(variablePrefix(''))) {
    const own = backendNames.filter((name) => variable.startsWith(variablePrefix(name)));
    const others = own.length > 0 ? [] : await outside.load();
    const named = [...(await Promise.all(own.map(loadBackend))), ...others];
    candidates.push(...named.flatMap(backendSettings));
  }
  const found = candidates.find((setting) => setting.variable === variable);
  if (found !== undefined) return found;
  const known = [...candidates.map((setting) => setting.variable), 'WORKCELL_CONFIG'];
  throw unknown(`The environment variable ${variable}`, variable, variable, known, known);
}

async function backendOf(type: string, outside: OutsideBackends): Promise<Backend | undefined> {
  return isBackendName(type) ? loadBackend(type) : outside.ofType(type);
}

async function unknownSection(
  section: string,
  source: string,
  outside: OutsideBackends,
): Promise<WorkcellError> {
  const others = (await outside.load()).map(({ type }) => `${backendsSection}.${type}`);
  const accepted = [...sectionNames.filter((name) => name.startsWith(`${backendsSection}.`)), ...others];
  return unknown(`The section ${section} (from ${source})`, section, source, accepted, []);
}

function unknown(
  what: string,
  key: string,
  source: string,
  accepted: readonly string[],
  known: readonly string[],
) {
  return new WorkcellError(
    'invalid-config',
    `${what} is not known.${didYouMean(nearest(key, [...accepted, ...known]))} Accepted: ${accepted.join(', ')}.`,
    { details: { key, source, accepted } },
  );
}

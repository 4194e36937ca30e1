/** Collects the configuration files that apply, and decides which of them may allow more and which only less. */
import { dirname, isAbsolute, resolve } from 'node:path';
import { backendNames, isBackendName } from '../backends/index.js';
import { WorkcellError } from '../protocol/errors.js';
import { changeMarked } from './config-schema.js';
import { type Entry, fromFile } from './entries.js';
import {
  type ConfigFile,
  findProjectFile,
  parseConfigFile,
  readNamedFile,
  readUserFile,
  untrusted,
} from './file.js';
import { notCovered } from './named-code.js';
import { mayNarrow, narrow, narrowingKeys } from './narrowing.js';
import type { OutsideBackends } from './outside-backends.js';
import type { Table } from './plain-table.js';
import { type Trust, trustOf } from './trusted-files.js';

/** Something that a file says and that does not count. */
export interface NotHonoured {
  readonly file: string;
  /** Undefined when the whole file does not count. */
  readonly key: string | undefined;
  readonly reason: string;
  /** It would allow more than the file may. */
  readonly widens?: boolean;
}

export interface FileEntries {
  /** The later ones win. */
  readonly entries: readonly Entry[];
  /** The files that we read. */
  readonly files: readonly string[];
  /** The one of them that we found by searching. */
  readonly project: string | undefined;
  readonly notHonoured: readonly NotHonoured[];
}

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file: string | undefined;
  readonly check: (entry: Entry) => void;
  /** Learns which backends the user's own file, or a named one, brings. A project's file brings none. */
  readonly outside: OutsideBackends;
  /** Notes a refused file, instead of throwing. */
  readonly lenient: boolean;
}

/** A named file stands alone. Otherwise the user's own comes first, and the project's file above it. */
export async function readFiles(place: Place): Promise<FileEntries> {
  const { cwd, env, file } = place;
  const named = file === undefined ? namedByVariable(env) : resolve(cwd, file);
  if (named !== undefined) {
    const found = readNamedFile(named);
    return {
      entries: await trustedEntries(found, place),
      files: [found.path],
      project: undefined,
      notHonoured: [],
    };
  }
  const notHonoured: NotHonoured[] = [];
  const own = readUserFile(env);
  const entries = own === undefined ? [] : await trustedEntries(own, place);
  const project = findProject(place, notHonoured);
  if (project !== undefined) {
    const trust = trustOf(project.path, project.text, env);
    const said = await entriesOf(project, parseConfigFile(project), place);
    if (trust === 'trusted') entries.push(...said.filter((entry) => isCovered(entry, place, notHonoured)));
    else entries.push(...narrowed(said, { project, trust, entries, notHonoured }));
  }
  const files = [own, project].flatMap((read) => (read === undefined ? [] : [read.path]));
  return { entries, files, project: project?.path, notHonoured };
}

function findProject({ cwd, env, lenient }: Place, notHonoured: NotHonoured[]): ConfigFile | undefined {
  const note = (file: string, reason: string) => notHonoured.push({ file, key: undefined, reason });
  try {
    return findProjectFile(cwd, env, note);
  } catch (error) {
    if (!lenient || !WorkcellError.isInstance(error) || error.code !== 'config-untrusted') throw error;
    note(String(error.details.file), error.message);
    return undefined;
  }
}

async function trustedEntries(file: ConfigFile, place: Place): Promise<Entry[]> {
  const content = parseConfigFile(file);
  place.outside.note(content.backend, { source: file.path, from: dirname(file.path) });
  return entriesOf(file, content, place);
}

async function entriesOf(file: ConfigFile, content: Table, { check, outside }: Place): Promise<Entry[]> {
  const entries = await fromFile(file.path, content, outside);
  for (const entry of entries) {
    check(entry);
    if (!file.isPrivate) refuseSecrets(entry, `chmod 600 ${file.path}`);
  }
  return entries;
}

/** A secret must stand in a file that no other user can read, or elsewhere with a reference to it. */
export function refuseSecrets({ setting: { key, schema }, value, source }: Entry, way: string): void {
  changeMarked(value, schema, (text, { secret }, at) => {
    if (!secret) return text;
    throw new WorkcellError(
      'invalid-config',
      `${key}.${at} (from ${source}) is a secret that others can read there. Refer to it with env, file or command instead, or keep it in a file that only you can read: ${way}.`,
      { details: { key: `${key}.${at}`, source } },
    );
  });
}

/**
 * You set a variable once and it holds in every directory, so with a relative path each directory would choose the
 * file.
 */
function namedByVariable({ WORKCELL_CONFIG: named }: Place['env']): string | undefined {
  if (named === undefined || named === '') return undefined;
  if (isAbsolute(named)) return named;
  throw new WorkcellError(
    'invalid-config',
    `WORKCELL_CONFIG = ${JSON.stringify(named)} is not accepted: a variable holds in every directory, so give an absolute path, or use --config.`,
    { details: { variable: 'WORKCELL_CONFIG' } },
  );
}

/** The settings that count in an untrusted file; notes the rest of them. */
function narrowed(
  said: readonly Entry[],
  parts: { project: ConfigFile; trust: Trust; entries: readonly Entry[]; notHonoured: NotHonoured[] },
): Entry[] {
  const { project, trust, entries, notHonoured } = parts;
  return said.flatMap((entry) => {
    const { key } = entry.setting;
    const before = entries.findLast(({ setting }) => setting.key === key);
    const narrows = mayNarrow(key, entry.value);
    const value = narrows ? narrow(key, entry.value, before?.value) : undefined;
    // A name of code in a list resolves from the list's source, so keep that source when this file only adds to the
    // list.
    const source = key === 'security.guards' ? (before?.source ?? entry.source) : entry.source;
    if (value !== undefined) return [{ ...entry, value, source }];
    const reason = narrows
      ? `${before?.source} is as strict already`
      : trust === 'changed'
        ? 'the file has changed since it was trusted'
        : 'nobody has trusted the file';
    notHonoured.push({ file: project.path, key, reason, ...(!narrows && { widens: true }) });
    return [];
  });
}

/** Trust covers the file, not the code that it names. */
function isCovered(
  { setting, value, source }: Entry,
  { lenient }: Place,
  notHonoured: NotHonoured[],
): boolean {
  const { key } = setting;
  if (key !== 'backend' || isBackendName(String(value))) return true;
  if (!lenient) throw notCovered('backend', String(value), source, backendNames);
  const reason = 'it names a backend whose code is not part of what was trusted';
  notHonoured.push({ file: source, key, reason, widens: true });
  return false;
}

/** Refuses a project that asks for more than it may. */
export function refuseWidening(notHonoured: readonly NotHonoured[]): void {
  const widening = notHonoured.filter(({ widens }) => widens);
  const [first] = widening;
  if (first === undefined) return;
  const keys = widening.map(({ key }) => key).join(', ');
  throw untrusted(
    first.file,
    `${first.file} sets ${keys}, and ${first.reason}. A file that is found by searching may set ${narrowingKeys.join(', ')} alone, each only stricter. Read it, then allow what it says now: workcell trust ${dirname(first.file)}. To go on without it: --no-config, or --config FILE.`,
  );
}

/** Settings for git as variables, so that no file, argument or setting of the cell has to change. */

export type Settings = readonly (readonly [name: string, value: string])[];

/** Variables that would lead git to another repository, start programs or write what it does to a file. */
export const unwantedVariables: readonly string[] = [
  ...['DIR', 'WORK_TREE', 'COMMON_DIR', 'INDEX_FILE', 'OBJECT_DIRECTORY', 'ALTERNATE_OBJECT_DIRECTORIES'],
  ...['NAMESPACE', 'CEILING_DIRECTORIES', 'SHALLOW_FILE', 'GRAFT_FILE', 'REPLACE_REF_BASE', 'ATTR_SOURCE'],
  ...[
    'CONFIG',
    'CONFIG_PARAMETERS',
    'CONFIG_SYSTEM',
    'EXEC_PATH',
    'TEMPLATE_DIR',
    'EXTERNAL_DIFF',
    'DIFF_OPTS',
  ],
  ...['SSH', 'SSH_COMMAND', 'PROXY_COMMAND', 'ASKPASS', 'SSL_NO_VERIFY', 'SSL_CAINFO', 'SSL_CAPATH'],
  ...['TRACE', 'TRACE_PACKET', 'TRACE_CURL', 'TRACE2', 'TRACE2_EVENT', 'TRACE2_PERF', 'CURL_VERBOSE'],
  'SSH_ASKPASS',
].map((name) => (name === 'SSH_ASKPASS' ? name : `GIT_${name}`));

/** For every command: git cannot ask anybody, and must leave nothing running in the background. */
const unattended: Settings = [
  ['safe.directory', '*'],
  ['core.quotePath', 'false'],
  ['core.pager', 'cat'],
  ['core.editor', ':'],
  ['sequence.editor', ':'],
  ['core.askPass', ''],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['advice.detachedHead', 'false'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['push.recurseSubmodules', 'no'],
];

/** Takes from a repository every way to start programs. */
const harmless: Settings = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.untrackedCache', 'false'],
  ['core.sshCommand', 'false'],
  ['core.alternateRefsCommand', 'false'],
  ['credential.helper', ''],
  ['gpg.program', 'false'],
  ['gpg.ssh.program', 'false'],
  ['gpg.x509.program', 'false'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['push.gpgSign', 'false'],
  ['log.showSignature', 'false'],
  ['diff.external', ''],
  ['interactive.diffFilter', ''],
];

/** Makes output look the same whatever a repository prefers. */
const plain: Settings = [
  ['color.ui', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
  ['diff.submodule', 'short'],
  ['diff.relative', 'false'],
  ['diff.noprefix', 'false'],
  ['diff.mnemonicPrefix', 'false'],
  ['diff.orderFile', '/dev/null'],
  ['diff.wordRegex', '.'],
  ['log.follow', 'false'],
  ['log.mailmap', 'false'],
  ['log.showRoot', 'true'],
  ['status.relativePaths', 'true'],
  ['status.showStash', 'false'],
  ['blame.ignoreRevsFile', ''],
  ['i18n.logOutputEncoding', 'UTF-8'],
];

/** Proves that git applies the settings above; git before 2.31 does not read settings from variables. */
const proof = 'workcell.inspection';

/** Asks, under `inspectionVariables`, what we must know first: see `againstFilters`. */
export const filterQuestion: readonly string[] = [
  'config',
  '--null',
  '--name-only',
  '--get-regexp',
  `^(filter\\..*|${proof.replace('.', '\\.')})$`,
];

/**
 * Settings that keep git from starting the filters of a repository, whose names are its own. Undefined when this git
 * ignores settings from variables, and so would start whatever a repository names.
 */
export function againstFilters(answer: string): Settings | undefined {
  const names = answer.split('\0');
  if (!names.includes(proof)) return undefined;
  const drivers = new Set(
    names
      .filter((name) => name.indexOf('.') < name.lastIndexOf('.'))
      .map((name) => name.slice(name.indexOf('.') + 1, name.lastIndexOf('.'))),
  );
  return [...drivers].flatMap(
    (driver): Settings => [
      [`filter.${driver}.clean`, ''],
      [`filter.${driver}.smudge`, ''],
      [`filter.${driver}.process`, ''],
      [`filter.${driver}.required`, 'false'],
    ],
  );
}

/** Omits transports that start a program to talk for them. */
const transports = ['file', 'http', 'https', 'ssh'];

const common = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_PAGER: 'cat',
  GIT_EDITOR: ':',
  GIT_SEQUENCE_EDITOR: ':',
  LC_ALL: 'C.UTF-8',
};

/** For looking only: no programs, no transport, no file of the user's, no lock. */
export function inspectionVariables(more: Settings): Record<string, string> {
  return {
    ...common,
    ...ownSettingsOnly,
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    ...asVariables([...unattended, ...harmless, ...plain, [proof, 'true'], ...more]),
  };
}

/** For one exchange with a server that gets a secret: as harmless as inspection, over this one transport. */
export function transferVariables(protocol: string, more: Settings): Record<string, string> {
  return {
    ...common,
    ...ownSettingsOnly,
    GIT_ALLOW_PROTOCOL: protocol,
    ...asVariables([...unattended, ...harmless, ['http.sslVerify', 'true'], ...more]),
  };
}

/** For work that the repository's own settings, filters and hooks take part in, as they would for a person in the cell. */
export function workVariables(more: Settings): Record<string, string> {
  return { ...common, GIT_ALLOW_PROTOCOL: transports.join(':'), ...asVariables([...unattended, ...more]) };
}

const ownSettingsOnly = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };

function asVariables(settings: Settings): Record<string, string> {
  return {
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([name, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, name],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

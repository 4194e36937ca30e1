/** The public surface: every name that an entry point exports, and what loading it costs. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import * as backendKit from '../../src/backends/backend-kit.js';
import * as images from '../../src/backends/images/index.js';
import * as plugins from '../../src/cell/plugins/index.js';
import * as client from '../../src/client/index.js';
import * as root from '../../src/index.js';
import * as protocol from '../../src/protocol/index.js';
import * as security from '../../src/runtime/security/index.js';
import * as testing from '../../src/testing/index.js';
import { checkout, filesBelow, readText } from './source.js';

const surface = {
  '.': {
    file: 'src/index.ts',
    module: root as Record<string, unknown>,
    values: [
      'WorkcellError',
      'agentSkills',
      'attachRuntime',
      'attemptWith',
      'bestOf',
      'createRuntime',
      'driveRuntime',
      'listCells',
      'loadTools',
      'openEventStore',
      'openaiTool',
      'pythonTools',
      'tool',
    ],
    types: [
      'Action',
      'ActionInput',
      'ActionName',
      'ApplyOptions',
      'AttachRuntimeOptions',
      'BackendConfig',
      'BackendName',
      'Best',
      'BestOfOptions',
      'CellInfo',
      'CellRef',
      'Checkpoint',
      'CheckpointOptions',
      'CodeOutput',
      'Conflict',
      'CreateRuntimeOptions',
      'Display',
      'Downloaded',
      'DriveOptions',
      'ErrorCode',
      'EventFilter',
      'EventStore',
      'Fact',
      'FactCode',
      'FileChange',
      'FileDiff',
      'FileEntry',
      'ForkOptions',
      'ForwardedPort',
      'FunctionTool',
      'GitBlameLine',
      'GitBranch',
      'GitChange',
      'GitCommit',
      'GitPatch',
      'GitStatus',
      'GitWorktree',
      'GrepMatch',
      'Isolation',
      'IsolationTier',
      'ListCellsOptions',
      'LoadedMicroagents',
      'Logger',
      'Microagent',
      'MinIsolation',
      'NetworkAnswer',
      'NetworkAsker',
      'NetworkEvent',
      'NetworkOption',
      'NetworkQuestion',
      'NetworkRules',
      'NetworkStats',
      'Observation',
      'OpenaiTool',
      'ProcessInfo',
      'RewindOptions',
      'Rewound',
      'RunCodeOptions',
      'RunOptions',
      'Runtime',
      'RuntimeDriver',
      'RuntimeGit',
      'RuntimeMicroagents',
      'RuntimeNetwork',
      'RuntimeStatus',
      'StatusUpdate',
      'StoredRuntime',
      'TakeOverOptions',
      'TakenOver',
      'Terminal',
      'TerminalOptions',
      'ToolContext',
      'ToolDefinition',
      'ToolRuntime',
      'WorkcellEvent',
      'WorkspaceChange',
      'WorkspaceOption',
      'WorkspaceState',
    ],
  },
  './protocol': {
    file: 'src/protocol/index.ts',
    module: protocol as Record<string, unknown>,
    values: [
      'WorkcellError',
      'actionNames',
      'actions',
      'defaultSession',
      'defineAction',
      'describeAction',
      'describeFact',
      'describeIssues',
      'errorCodes',
      'errorSchema',
      'errorTable',
      'eventSchema',
      'factCodes',
      'findFact',
      'isAtLeast',
      'isEnforced',
      'isolationSchema',
      'isolationTiers',
      'networkRulesSchema',
      'parseAction',
      'parseObservation',
      'progressSchema',
      'protocolVersion',
      'runtimeStatuses',
      'shortfall',
      'statusSchema',
      'verbs',
      'withoutSecrets',
    ],
    types: [
      'Action',
      'ActionDefinition',
      'ActionInput',
      'ActionName',
      'ActionTable',
      'ArchiveFormat',
      'Capability',
      'Carried',
      'Cell',
      'CellNetwork',
      'CheckpointRecord',
      'CoreActionName',
      'Decision',
      'Demand',
      'Display',
      'DownloadOptions',
      'Downloaded',
      'EditStep',
      'Encoding',
      'EndedBy',
      'ErrorBody',
      'ErrorCode',
      'EventSource',
      'ExecuteContext',
      'Executor',
      'Fact',
      'FactCode',
      'FieldKind',
      'FieldKinds',
      'FileChange',
      'FileEntry',
      'FullNetworkRules',
      'GrepMatch',
      'Isolation',
      'IsolationTier',
      'KindsOf',
      'MinIsolation',
      'NetworkAnswer',
      'NetworkAsker',
      'NetworkEvent',
      'NetworkOption',
      'NetworkQuestion',
      'NetworkRecord',
      'NetworkRules',
      'NetworkSecret',
      'NetworkStats',
      'Observation',
      'Offered',
      'OutputDelta',
      'PluginActions',
      'PoolStats',
      'ProcessInfo',
      'Progress',
      'PublishedPort',
      'RuntimeStatus',
      'RuntimeVerbs',
      'StatusUpdate',
      'Terminal',
      'TerminalOptions',
      'UploadOptions',
      'Uploaded',
      'WorkcellEvent',
    ],
  },
  './backends': {
    file: 'src/backends/backend-kit.ts',
    module: backendKit as Record<string, unknown>,
    values: [
      'WorkcellError',
      'defineBackend',
      'executorCommand',
      'leaseHolder',
      'newToken',
      'openTunnel',
      'openWorkspace',
      'pausable',
      'reachExecutor',
      'servedCell',
      'shipPlugins',
      'startExecutor',
      'takeLease',
    ],
    types: [
      'Backend',
      'BackendDefinition',
      'Cell',
      'CellInfo',
      'CellRef',
      'Connect',
      'ExecutorPlace',
      'ExecutorSettings',
      'ExecutorStart',
      'Fact',
      'FactCode',
      'FoundCell',
      'Isolation',
      'IsolationTier',
      'Lease',
      'OutsideBackends',
      'Pausable',
      'Probe',
      'ReachOptions',
      'ServedCell',
      'ShippedPlugins',
      'StartContext',
      'StartedExecutor',
      'StatsContext',
      'Tunnel',
      'Workspace',
    ],
  },
  './client': {
    file: 'src/client/index.ts',
    module: client as Record<string, unknown>,
    values: ['ServiceClient', 'WorkcellError'],
    types: [
      'CellDiff',
      'CellNews',
      'CellNotice',
      'CellPage',
      'ChangeCell',
      'CheckpointCell',
      'CheckpointPage',
      'CreateCell',
      'CreateKey',
      'CreatePreview',
      'ForkCell',
      'ForkedCells',
      'KeyPage',
      'ListOptions',
      'NewKey',
      'Preview',
      'RewindCell',
      'RewoundCell',
      'ServiceCell',
      'ServiceCheckpoint',
      'ServiceClientOptions',
      'ServiceKey',
      'ServiceStatus',
      'ServiceTemplateInfo',
      'ServiceUsage',
    ],
  },
  './images': {
    file: 'src/backends/images/index.ts',
    module: images as Record<string, unknown>,
    values: ['bundleMount', 'dockerBuilder', 'executorBundle', 'listImages', 'pruneImages', 'remoteBuilder'],
    types: [
      'BuildOptions',
      'BuiltImage',
      'BundleOptions',
      'DockerImagesOptions',
      'ExecutorBundle',
      'ImageBuilder',
      'ImageProgress',
      'ImageSpec',
      'PruneOptions',
      'Pruned',
      'RemoteBuilderOptions',
      'RuntimeImage',
    ],
  },
  './plugins': {
    file: 'src/cell/plugins/index.ts',
    module: plugins as Record<string, unknown>,
    values: ['WorkcellError', 'defineAction', 'definePlugin'],
    types: [
      'ActionDefinition',
      'KeptOutput',
      'Offered',
      'Plugin',
      'PluginActions',
      'PluginCell',
      'PluginInstance',
      'PluginPort',
      'PluginRuntime',
      'Requirement',
      'RuntimeVerbs',
      'Verbs',
    ],
  },
  './testing': {
    file: 'src/testing/index.ts',
    module: testing as Record<string, unknown>,
    values: ['contractTests', 'requirements'],
    types: [
      'ContractOptions',
      'ContractRuntime',
      'ContractTest',
      'Dimension',
      'Requirement',
      'RequirementId',
      'Trait',
    ],
  },
  './security': {
    file: 'src/runtime/security/index.ts',
    module: security as Record<string, unknown>,
    values: [
      'LlmGuardRuntime',
      'createSecrets',
      'ensemble',
      'exportAudit',
      'exportAuditStore',
      'filePendingStore',
      'guardPrompt',
      'llmGuard',
      'loadRules',
      'openAuditLog',
      'openConfirmations',
      'policy',
      'rules',
      'verifyAudit',
      'verifyAuditStore',
    ],
    types: [
      'AnalyzeContext',
      'Analyzer',
      'Answer',
      'AnswerScope',
      'AuditEntry',
      'AuditFormat',
      'AuditLog',
      'AuditLogOptions',
      'AuditProblem',
      'AuditRecord',
      'AuditStoreOptions',
      'AuditVerification',
      'ConfirmationRequest',
      'Confirmations',
      'DecisionRecord',
      'GuardableTool',
      'JudgeContext',
      'JudgedAction',
      'LanguageModel',
      'LlmGuard',
      'LlmGuardOptions',
      'Outcome',
      'PendingRequest',
      'PendingStore',
      'Policy',
      'PolicyOptions',
      'PolicyRule',
      'Risk',
      'RuleExtension',
      'RulesAnalyzer',
      'RulesOptions',
      'SecretMask',
      'SecretOptions',
      'SecretValue',
      'Secrets',
      'Verdict',
      'Waiver',
    ],
  },
};

const { exports } = JSON.parse(readText('package.json')) as { exports: Record<string, { default: string }> };
const toolkits = Object.keys(exports).filter((entry) => entry.startsWith('./toolkits/'));
const adapters = filesBelow('src/adapters', '.ts').map((file) => file.slice('src'.length, -'.ts'.length));

test('package.json has exactly these entry points, the toolkits and the adapters', () => {
  const others = Object.keys(exports).filter((entry) => !toolkits.includes(entry) && !isAdapter(entry));
  expect(others.sort()).toEqual(Object.keys(surface).sort());
});

test.each(toolkits)('workcell%s exports the one function that makes it', async (entry) => {
  const name = entry.split('/').at(-1);
  expect(exports[entry]?.default).toBe(`./dist/runtime/tools/toolkits/${name}-toolkit.js`);
  expect(readText(`src/runtime/tools/toolkits/${name}-toolkit.ts`)).toContain(
    `export function ${name}Toolkit(`,
  );
});

test('every adapter has its entry point, its page section and its test', () => {
  expect(Object.keys(exports).filter(isAdapter)).toEqual(adapters.map((path) => `.${path}`).sort());
  const page = readText('docs/guides/adapters.md');
  for (const path of adapters) {
    expect(exports[`.${path}`]?.default).toBe(`./dist${path}.js`);
    expect(page).toContain(`workcell${path}`);
    expect(filesBelow('test/adapters', '.test.ts')).toContain(`test${path}.test.ts`);
  }
});

for (const [entry, { file, module, values, types }] of Object.entries(surface)) {
  test(`workcell${entry.slice(1)} exports exactly the listed names`, () => {
    const declared = exportedNames(readText(file));
    expect(Object.keys(module).sort()).toEqual(values);
    expect(declared.values).toEqual(values);
    expect(declared.types).toEqual(types);
  });
}

test('a process loads what it needs when it needs it', () => {
  const { imported, created, prepared, worked } = modulesLoadedBy({
    imported: `const { createRuntime } = await import('./src/index.ts');`,
    created: `
      const runtime = await createRuntime({ config: false, backend: 'cli', events: { store: 'memory' } });
      await runtime.run(':');`,
    prepared: `await (await import('./src/cell/executor/load-parts.ts')).loadParts();`,
    worked: `
      await runtime.write('a.txt', 'a');
      await runtime.edit('a.txt', { oldText: 'a', newText: 'b' });
      await runtime.files.grep('b');
      await runtime.files.upload(Buffer.from('c'), 'c.txt');
      for await (const _ of (await runtime.files.download('.', { format: 'tar' })).content);
      await runtime.close();`,
  });
  const packages = (loaded: readonly string[]) =>
    [...new Set(loaded.map((url) => url.match(/\/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]))]
      .filter(Boolean)
      .sort();
  expect(packages(imported)).toEqual(['smol-toml', 'zod']);
  const ofCells = /\/src\/(cell\/(?:executor|launchers|server)|cli)\//;
  expect(imported.filter((url) => ofCells.test(url))).toEqual([]);
  expect(imported.some((url) => url.endsWith('/src/runtime/runtime.ts'))).toBe(true);
  // Each file costs every start a part of a millisecond.
  expect(ownFiles(imported).length).toBeLessThanOrEqual(150);
  expect(ownFiles(created).length).toBeLessThanOrEqual(110);
  expect(created.filter((url) => /\/files\/(search|archive|edit-file)/.test(url))).toEqual([]);
  // A process that takes another user may not be able to read its own files any more.
  expect(ownFiles(prepared).length).toBeGreaterThan(0);
  expect(worked.filter((url) => url.includes('/src/cell/executor/'))).toEqual([]);
});

test('the types of a Runtime lead to those of its verbs and actions, by imports that declarations keep', () => {
  expect(readText('src/runtime/runtime.ts')).toMatch(/type RuntimeVerbs } from '.\/verbs\/index.js'/);
  expect(readText('src/runtime/verbs/index.ts')).toMatch(/^import '..\/..\/cell\/plugins\/builtin.js';$/m);
});

function isAdapter(entry: string): boolean {
  return entry.startsWith('./adapters/');
}

/** Entry points only re-export, so read their names from the text. */
function exportedNames(source: string): { values: string[]; types: string[] } {
  const values: string[] = [];
  const types: string[] = [];
  for (const [, isType, list = ''] of source.matchAll(/export (type )?\{([^}]*)\} from/g)) {
    for (const name of list.split(',').map((part) => part.trim())) {
      if (name === '') continue;
      if (isType !== undefined) types.push(name);
      else if (name.startsWith('type ')) types.push(name.slice(5));
      else values.push(name);
    }
  }
  expect(source).not.toMatch(/export \*/);
  return { values: values.sort(), types: types.sort() };
}

function ownFiles(loaded: readonly string[]): string[] {
  return [...new Set(loaded.filter((url) => url.includes('/src/')))];
}

/** The ES modules and required files that a fresh process loads in each of these steps. */
function modulesLoadedBy<Step extends string>(steps: Readonly<Record<Step, string>>): Record<Step, string[]> {
  const hook = `
    import { writeSync } from 'node:fs';
    export async function load(url, context, next) {
      const result = await next(url, context);
      writeSync(1, 'loaded ' + url + '\\n');
      return result;
    }`;
  const program = `
    import module, { register } from 'node:module';
    import { writeSync } from 'node:fs';
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}));
    const known = new Set(Object.keys(module._cache));
    function end(step) {
      for (const file of Object.keys(module._cache)) {
        if (!known.has(file)) writeSync(1, 'loaded file://' + file + '\\n');
        known.add(file);
      }
      writeSync(1, 'step ' + step + '\\n');
    }
    ${Object.entries(steps)
      .map(([step, source]) => `${source}\nend(${JSON.stringify(step)});`)
      .join('\n')}`;
  const output = execFileSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', program],
    { cwd: checkout, encoding: 'utf8' },
  );
  const found: Record<string, string[]> = {};
  let loaded: string[] = [];
  for (const line of output.split('\n')) {
    if (line.startsWith('loaded ')) loaded.push(line.slice('loaded '.length));
    if (!line.startsWith('step ')) continue;
    found[line.slice('step '.length)] = loaded;
    loaded = [];
  }
  return found as Record<Step, string[]>;
}

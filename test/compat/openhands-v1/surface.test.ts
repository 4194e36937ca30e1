/** Calls every method that the published client has for a workspace, so that none is missing when it grows. */
import {
  BashClient,
  DesktopClient,
  FileClient,
  HooksClient,
  ServerClient,
  SettingsClient,
  ToolClient,
  VSCodeClient,
  WorkspacesClient,
} from '@openhands/typescript-client/clients';
import { RemoteWorkspace } from '@openhands/typescript-client/workspace/remote-workspace';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const at = (name: string) => `${server.workspace}/${name}`;
const conversation = '7f3b9a52-5f0c-4c5e-9d55-0f7a3c1e2b4d';
const saved = () => ({ id: '1', name: 'one', path: server.workspace });

/** A status where the server answers that it has no such thing; else what the method gives. */
type Answers = Record<string, [call: () => Promise<unknown>, answer: unknown]>;
const absent = (status: number) => expect.objectContaining({ name: 'HttpError', status });

const remote = () => new RemoteWorkspace({ ...server, workingDir: server.workspace });
const bash = () => new BashClient(server);
const files = () => new FileClient(server);
const settings = () => new SettingsClient(server);
const workspaces = () => new WorkspacesClient(server);

/** In this order: later calls see what earlier ones did. */
const surface: [client: { prototype: object }, Answers][] = [
  [
    RemoteWorkspace,
    {
      executeCommand: [() => remote().executeCommand('echo hi'), expect.objectContaining({ stdout: 'hi\n' })],
      fileUpload: [() => remote().fileUpload('a', at('a')), expect.objectContaining({ success: true })],
      uploadText: [() => remote().uploadText('b', at('b')), expect.objectContaining({ success: true })],
      uploadFileObject: [
        () => remote().uploadFileObject(new File(['c'], 'c'), at('c')),
        expect.objectContaining({ success: true, source_path: 'c' }),
      ],
      fileDownload: [
        () => remote().fileDownload(at('a')),
        expect.objectContaining({ success: true, content: 'a', file_size: 1 }),
      ],
      downloadAsText: [() => remote().downloadAsText(at('b')), 'b'],
      downloadAsBlob: [async () => (await remote().downloadAsBlob(at('c'))).text(), 'c'],
      // Clicks on a link, for which there is no page here.
      downloadAndSave: [
        () => remote().downloadAndSave(at('c')),
        expect.objectContaining({ name: 'ReferenceError' }),
      ],
      gitChanges: [() => remote().gitChanges(server.workspace, { ref: 'HEAD' }), []],
      gitDiff: [() => remote().gitDiff(at('a')), { modified: null, original: null }],
      startWorkspaceSession: [
        () => remote().startWorkspaceSession(conversation),
        expect.stringContaining(`/api/conversations/${conversation}/workspace/`),
      ],
      deleteWorkspaceSession: [() => remote().deleteWorkspaceSession(), undefined],
    },
  ],
  [
    BashClient,
    {
      startCommand: [() => bash().startCommand('true'), expect.objectContaining({ kind: 'BashCommand' })],
      executeCommand: [() => bash().executeCommand('true'), expect.objectContaining({ exit_code: 0 })],
      searchEvents: [
        () => bash().searchEvents({ limit: 1 }),
        expect.objectContaining({ next_page_id: expect.any(String) }),
      ],
      getEvent: [() => bash().getEvent('0'.repeat(32)), absent(404)],
      getEvents: [() => bash().getEvents(['0'.repeat(32)]), [null]],
      batchGetEvents: [() => bash().batchGetEvents(['0'.repeat(32)]), [null]],
      clearEvents: [() => bash().clearEvents(), { cleared_count: expect.any(Number) }],
    },
  ],
  [
    FileClient,
    {
      uploadFile: [() => files().uploadFile(new Blob(['x']), at('dir/x')), { success: true }],
      uploadTextFile: [() => files().uploadTextFile('y', at('y')), { success: true }],
      downloadFile: [async () => Buffer.from(await files().downloadFile(at('dir/x'))).toString(), 'x'],
      downloadTextFile: [() => files().downloadTextFile(at('y')), 'y'],
      searchSubdirectories: [
        () => files().searchSubdirectories(server.workspace),
        { items: [{ name: 'dir', path: expect.stringMatching(/\/dir$/) }], next_page_id: null },
      ],
      getHome: [() => files().getHome(), expect.objectContaining({ home: expect.any(String) })],
      downloadTrajectory: [() => files().downloadTrajectory(conversation), absent(501)],
    },
  ],
  [
    ServerClient,
    {
      getAlive: [() => new ServerClient(server).getAlive(), { status: 'ok' }],
      getHealth: [() => new ServerClient(server).getHealth(), { status: 'ok' }],
      getReady: [() => new ServerClient(server).getReady(), { status: 'ready' }],
      getRoot: [() => new ServerClient(server).getRoot(), expect.objectContaining({ version: '1.43.1' })],
      getServerInfo: [
        () => new ServerClient(server).getServerInfo(),
        expect.objectContaining({ version: '1.43.1' }),
      ],
    },
  ],
  [
    ToolClient,
    { listTools: [() => new ToolClient(server).listTools(), expect.arrayContaining(['terminal'])] },
  ],
  [
    VSCodeClient,
    {
      getUrl: [() => new VSCodeClient(server).getUrl(), absent(503)],
      getStatus: [() => new VSCodeClient(server).getStatus(), expect.objectContaining({ running: false })],
    },
  ],
  [DesktopClient, { getUrl: [() => new DesktopClient(server).getUrl(), absent(503)] }],
  [HooksClient, { loadHooks: [() => new HooksClient(server).loadHooks(), { hook_config: null }] }],
  [
    WorkspacesClient,
    {
      listWorkspaces: [() => workspaces().listWorkspaces(), { workspaces: [], workspaceParents: [] }],
      addWorkspaces: [
        () => workspaces().addWorkspaces([saved(), { ...saved(), name: 'again' }]),
        { workspaces: [expect.objectContaining({ path: expect.any(String) })], workspaceParents: [] },
      ],
      addWorkspaceParents: [
        () => workspaces().addWorkspaceParents([{ ...saved(), path: '/' }]),
        expect.objectContaining({ workspaceParents: [{ id: '1', name: 'one', path: '/' }] }),
      ],
      deleteWorkspace: [() => workspaces().deleteWorkspace(server.workspace), { deleted: true }],
      deleteWorkspaceParent: [() => workspaces().deleteWorkspaceParent('/nowhere'), absent(404)],
    },
  ],
  [
    SettingsClient,
    {
      getSettings: [() => settings().getSettings(), expect.objectContaining({ misc_settings: {} })],
      updateSettings: [
        () => settings().updateSettings({ misc_settings_diff: { a: 1 } }),
        expect.objectContaining({ misc_settings: { a: 1 } }),
      ],
      upsertSecret: [
        () => settings().upsertSecret({ name: 'A', value: 'v' }),
        { name: 'A', description: null },
      ],
      listSecrets: [() => settings().listSecrets(), { secrets: [{ name: 'A', description: null }] }],
      getSecret: [() => settings().getSecret('A'), 'v'],
      deleteSecret: [() => settings().deleteSecret('A'), { deleted: true }],
      // Of agents and models.
      getAgentSchema: [() => settings().getAgentSchema(), absent(501)],
      getConversationSchema: [() => settings().getConversationSchema(), absent(501)],
      createMcpServer: [() => settings().createMcpServer('a', {} as never), absent(501)],
      patchMcpServer: [() => settings().patchMcpServer('a', {} as never), absent(501)],
      deleteMcpServer: [() => settings().deleteMcpServer('a'), absent(501)],
      listProfiles: [() => settings().listProfiles(), absent(501)],
      getProfile: [() => settings().getProfile('a'), absent(501)],
      saveProfile: [() => settings().saveProfile('a', {} as never), absent(501)],
      deleteProfile: [() => settings().deleteProfile('a'), absent(501)],
      renameProfile: [() => settings().renameProfile('a', 'b'), absent(501)],
    },
  ],
];

/** Not for callers. */
const inner = ['constructor', 'close', 'normalizeRequest', 'ensureWorkspacesSupported'];

describe.each(
  surface.map(([client, answers]) => [(client as { name?: string }).name ?? '', client, answers] as const),
)('%s', (_name, client, answers) => {
  test('has these methods', () => {
    const methods = Object.getOwnPropertyNames(client.prototype).filter((name) => !inner.includes(name));
    expect(methods.sort()).toEqual(Object.keys(answers).sort());
  });

  test.each(Object.entries(answers))('%s', async (_method, [call, answer]) => {
    expect(await call().catch((error: unknown) => error)).toEqual(answer);
  });
});

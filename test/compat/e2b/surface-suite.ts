/** Each public method of the published clients for JavaScript, by their own declarations, is called against a service. */
import { Sandbox as CodeSandbox } from '@e2b/code-interpreter';
import { Sandbox, Secret, Template, Volume } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { E2bService } from './e2b-service.js';
import { noteCalls, publicMethods } from './public-methods.js';

/** What a call gives, or the class of its error. */
const outcome = async (work: () => unknown) => {
  try {
    return await work();
  } catch (error) {
    return (error as Error).constructor.name;
  }
};

/** Those that no call of ours can reach, by what they begin with. */
const without: Readonly<Record<string, string>> = {
  'Volume.': 'needs a volume, and the service has none',
  'TemplateBase.': 'describes a build, and the service builds no templates',
  'TemplateBase.static toJSON': 'asks no server',
  'TemplateBase.static toDockerfile': 'asks no server',
  'Secret.static fill': 'asks no server',
  'Secret.static iamToken': 'asks no server',
};

export function surfaceSuite(start: () => Promise<E2bService>): void {
  const called = new Set<string>();
  let service: E2bService;
  let sandbox: CodeSandbox;

  beforeAll(async () => {
    service = await start();
    const api = Object.getPrototypeOf(Sandbox) as object;
    for (const [target, prefix] of [
      [Sandbox, 'Sandbox.static '],
      [api, 'SandboxApi.static '],
      [Sandbox.prototype, 'Sandbox.'],
      [CodeSandbox.prototype, 'CodeSandbox.'],
      [Secret, 'Secret.static '],
      [Volume, 'Volume.static '],
      [Template, 'TemplateBase.static '],
    ] as const)
      noteCalls(target, prefix, called);
    sandbox = await CodeSandbox.create(service.connection);
    for (const [part, name] of [
      [sandbox.commands, 'Commands'],
      [sandbox.files, 'Filesystem'],
      [sandbox.pty, 'Pty'],
      [sandbox.git, 'Git'],
    ] as const)
      noteCalls(Object.getPrototypeOf(part), `${name}.`, called);
  }, 600_000);
  afterAll(async () => {
    await sandbox?.kill();
    await service?.close();
  });

  test('sandboxes', async () => {
    const { connection } = service;
    const { sandboxId } = sandbox;
    expect(sandbox.getHost(3000)).toContain(`3000-${sandboxId}`);
    expect(await sandbox.isRunning()).toBe(true);
    expect(await sandbox.getInfo()).toMatchObject({ sandboxId, state: 'running' });
    expect(await Sandbox.getInfo(sandboxId, connection)).toMatchObject({ sandboxId });
    expect(await Sandbox.getFullInfo(sandboxId, connection)).toMatchObject({ sandboxId, state: 'running' });
    expect(await sandbox.getMetrics()).toHaveLength(1);
    expect(await Sandbox.getMetrics(sandboxId, connection)).toHaveLength(1);
    expect(await Sandbox.list(connection).nextItems()).toMatchObject([{ sandboxId }]);
    await sandbox.setTimeout(3_600_000);
    await Sandbox.setTimeout(sandboxId, 3_600_000, connection);
    expect(await sandbox.pause()).toBe(true);
    expect(await Sandbox.pause(sandboxId, connection)).toBe(false);
    expect(await sandbox.betaPause()).toBe(false);
    expect(await Sandbox.betaPause(sandboxId, connection)).toBe(false);
    expect((await sandbox.connect()).sandboxId).toBe(sandboxId);
    expect(await (await Sandbox.connect(sandboxId, connection)).isRunning()).toBe(true);
    // The template has no network that rules could narrow.
    const rules = { allowOut: ['example.com'] };
    expect(await outcome(() => sandbox.updateNetwork(rules))).toBe('SandboxError');
    expect(await outcome(() => Sandbox.updateNetwork(sandboxId, rules, connection))).toBe('SandboxError');
    const other = await Sandbox.create(connection);
    expect(await other.kill()).toBe(true);
    expect(await Sandbox.kill(other.sandboxId, connection)).toBe(false);
  });

  test('snapshots and forks', async () => {
    const { connection } = service;
    const { sandboxId } = sandbox;
    await sandbox.files.write('kept.txt', 'before');
    const own = await sandbox.createSnapshot();
    const named = await Sandbox.createSnapshot(sandboxId, { ...connection, name: 'mine' });
    expect(named).toMatchObject({ snapshotId: 'mine:default', names: ['mine:default'] });
    await sandbox.files.write('kept.txt', 'after');
    const ids = async (pages: ReturnType<typeof Sandbox.listSnapshots>) =>
      (await pages.nextItems()).map(({ snapshotId }) => snapshotId);
    const both = [named.snapshotId, own.snapshotId];
    expect(await ids(sandbox.listSnapshots())).toEqual(both);
    expect(await ids(Sandbox.listSnapshots(connection))).toEqual(both);
    const begun = await CodeSandbox.create(named.snapshotId, connection);
    expect(await begun.files.read('kept.txt')).toBe('before');
    await begun.kill();
    for (const id of both) expect(await Sandbox.deleteSnapshot(id, connection)).toBe(true);
    expect(await Sandbox.deleteSnapshot('none', connection)).toBe(false);

    const forks = [...(await sandbox.fork()), ...(await Sandbox.fork(sandboxId, connection))];
    for (const fork of forks) {
      if (fork instanceof Error) throw fork;
      expect(await fork.files.read('kept.txt')).toBe('after');
      await fork.kill();
    }
    expect(await outcome(() => Sandbox.fork('none', connection))).toBe('SandboxNotFoundError');
    await sandbox.files.remove('kept.txt');
  });

  test('what this server does not have', async () => {
    const { connection } = service;
    const { sandboxId } = sandbox;
    expect(sandbox.getMcpUrl()).toContain(sandboxId);
    // The client reads it as root.
    expect(await outcome(() => sandbox.getMcpToken())).toBe('AuthenticationError');

    expect(await outcome(() => Volume.create('mine', connection))).toBe('VolumeError');
    expect(await outcome(() => Volume.connect('mine', connection))).toBe('VolumeNotFoundError');
    expect(await outcome(() => Volume.getInfo('mine', connection))).toBe('VolumeNotFoundError');
    expect(await outcome(() => Volume.list(connection))).toBe('VolumeError');
    expect(await Volume.destroy('mine', connection)).toBe(false);

    expect(await outcome(() => Secret.create('mine', 'x', connection))).toBe('SecretError');
    expect(await outcome(() => Secret.update('mine', 'x', connection))).toBe('SecretNotFoundError');
    expect(await outcome(() => Secret.getInfo('mine', connection))).toBe('SecretNotFoundError');
    expect(await outcome(() => Secret.list(connection).nextItems())).toBe('SecretError');
    expect(await Secret.exists('mine', connection)).toBe(false);
    expect(await Secret.destroy('mine', connection)).toBe(false);

    const template = Template().fromImage('debian');
    expect(await outcome(() => Template.build(template, 'mine', connection))).toBe('BuildError');
    expect(await outcome(() => Template.buildInBackground(template, 'mine', connection))).toBe('BuildError');
    const build = { templateId: 'mine', buildId: 'none' };
    expect(await outcome(() => Template.getBuildStatus(build, connection))).toBe('BuildError');
    expect(await Template.exists('base', connection)).toBe(true);
    expect(await Template.aliasExists('missing', connection)).toBe(false);
    expect(await outcome(() => Template.assignTags('base', 'v1', connection))).toBe('TemplateError');
    expect(await outcome(() => Template.removeTags('base', 'v1', connection))).toBe('TemplateError');
    expect(await outcome(() => Template.getTags('base', connection))).toBe('TemplateError');
  });

  test('commands and terminals', async () => {
    const { commands, pty } = sandbox;
    const cat = await commands.run('cat', { background: true, stdin: true });
    noteCalls(Object.getPrototypeOf(cat), 'CommandHandle.', called);
    expect(await commands.list()).toMatchObject([{ pid: cat.pid }]);
    await commands.sendStdin(cat.pid, 'one\n');
    await cat.sendStdin('two\n');
    await cat.disconnect();
    const again = await commands.connect(cat.pid);
    await again.sendStdin('three\n');
    await commands.closeStdin(cat.pid);
    expect(await again.wait()).toMatchObject({ exitCode: 0 });
    const sleeping = await commands.run('sleep 1000', { background: true });
    expect(await sleeping.kill()).toBe(true);
    expect(await outcome(() => sleeping.wait())).toBe('CommandExitError');
    expect(await commands.kill(sleeping.pid)).toBe(false);
    const closing = await commands.run('cat', { background: true, stdin: true });
    await closing.closeStdin();
    expect(await closing.wait()).toMatchObject({ exitCode: 0 });

    const terminal = await pty.create({ cols: 80, rows: 24, onData: () => {} });
    await pty.resize(terminal.pid, { cols: 100, rows: 40 });
    const connected = await pty.connect(terminal.pid, { onData: () => {} });
    await pty.sendInput(terminal.pid, Buffer.from('exit 4\n'));
    expect(await outcome(() => connected.wait())).toBe('CommandExitError');
    expect(await pty.kill(terminal.pid)).toBe(false);
  });

  test('files', async () => {
    const { files } = sandbox;
    await files.write('folder/a.txt', 'a');
    await files.writeFiles([{ path: 'folder/b.txt', data: 'b' }]);
    expect(await files.read('folder/a.txt')).toBe('a');
    expect(await files.list('folder')).toMatchObject([{ name: 'a.txt' }, { name: 'b.txt' }]);
    expect(await files.makeDir('folder/c')).toBe(true);
    const watch = await files.watchDir('folder', () => {});
    noteCalls(Object.getPrototypeOf(watch), 'WatchHandle.', called);
    await watch.stop();
    expect(await files.rename('folder/a.txt', 'folder/z.txt')).toMatchObject({ name: 'z.txt' });
    expect(await files.getInfo('folder/z.txt')).toMatchObject({ size: 1 });
    expect(await (await fetch(await sandbox.downloadUrl('folder/z.txt'))).text()).toBe('a');
    const uploaded = await fetch(await sandbox.uploadUrl('folder/u.txt'), {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: 'u',
    });
    expect(uploaded.status).toBe(200);
    await files.remove('folder');
    expect(await files.exists('folder')).toBe(false);
  });

  test('git, between two repositories of the sandbox', async () => {
    const { git, files } = sandbox;
    const [origin, copy] = ['/workspace/origin', '/workspace/copy'];
    await git.init(origin, { bare: true, initialBranch: 'main' });
    await git.configureUser('An Agent', 'agent@example.com');
    await git.clone(origin, { path: copy });
    await git.setConfig('workcell.test', 'yes', { scope: 'local', path: copy });
    expect(await git.getConfig('workcell.test', { scope: 'local', path: copy })).toBe('yes');
    await files.write(`${copy}/a.txt`, 'a');
    await git.add(copy);
    await git.commit(copy, 'first');
    await git.push(copy, { remote: 'origin', branch: 'main' });
    await git.createBranch(copy, 'other');
    await files.write(`${copy}/a.txt`, 'b');
    await git.restore(copy, { paths: ['a.txt'] });
    expect(await files.read(`${copy}/a.txt`)).toBe('a');
    await files.write(`${copy}/b.txt`, 'b');
    await git.add(copy);
    await git.reset(copy);
    expect(await git.status(copy)).toMatchObject({ currentBranch: 'other', hasUntracked: true });
    await git.checkoutBranch(copy, 'main');
    await git.deleteBranch(copy, 'other', { force: true });
    expect(await git.branches(copy)).toMatchObject({ branches: ['main'], currentBranch: 'main' });
    await git.pull(copy, { remote: 'origin', branch: 'main' });
    await git.remoteAdd(copy, 'elsewhere', 'https://example.com/x.git');
    expect(await git.remoteGet(copy, 'elsewhere')).toBe('https://example.com/x.git');
    const login = { username: 'an-agent', password: 'a-token', host: 'example.com' };
    expect(await git.dangerouslyAuthenticate(login)).toMatchObject({ exitCode: 0 });
  });

  test('code', async () => {
    const context = await sandbox.createCodeContext({ cwd: '/workspace' });
    expect((await sandbox.runCode('20 + 22', { context })).text).toBe('42');
    expect((await sandbox.listCodeContexts()).map(({ id }) => id)).toContain(context.id);
    await sandbox.restartCodeContext(context.id);
    await sandbox.removeCodeContext(context.id);
  });

  test('the log of a sandbox, in both versions, for a holder of a key', async () => {
    const read = async (path: string, apiKey = service.connection.apiKey) => {
      const answer = await fetch(`${service.url}${path}`, { headers: { 'x-api-key': apiKey } });
      return { status: answer.status, ...((await answer.json()) as object) };
    };
    await sandbox.commands.run('true');
    const started = expect.objectContaining({ message: 'Process started' });
    expect(await read(`/sandboxes/${sandbox.sandboxId}/logs`)).toMatchObject({
      status: 200,
      logEntries: expect.arrayContaining([started]),
    });
    expect(await read(`/v2/sandboxes/${sandbox.sandboxId}/logs`)).toMatchObject({
      status: 200,
      logs: expect.arrayContaining([started]),
    });
    expect(await read(`/sandboxes/${sandbox.sandboxId}/logs`, 'wrong')).toMatchObject({ status: 401 });
  });

  test('templates, as the command line of E2B lists them', async () => {
    for (const path of ['/templates', '/v2/templates']) {
      const answer = await fetch(`${service.url}${path}`, {
        headers: { 'x-api-key': service.connection.apiKey },
      });
      expect(await answer.json()).toMatchObject([
        { templateID: 'base', cpuCount: expect.any(Number), createdAt: expect.any(String) },
        { templateID: 'code-interpreter-v1' },
        { templateID: 'default' },
      ]);
    }
  });

  test('no public method is left out', () => {
    const classes = [
      'Sandbox',
      'SandboxApi',
      'Commands',
      'CommandHandle',
      'Pty',
      'Filesystem',
      'WatchHandle',
    ];
    const all = [
      ...[...classes, 'Git', 'Volume', 'Secret', 'TemplateBase'].flatMap((name) =>
        publicMethods('e2b', name),
      ),
      ...publicMethods('@e2b/code-interpreter', 'Sandbox').map((method) => `Code${method}`),
    ];
    const isWithout = (method: string) =>
      method in without || (!method.includes(' ') && `${method.split('.')[0]}.` in without);
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter((method) => !called.has(method) && !isWithout(method))).toEqual([]);
  });
}

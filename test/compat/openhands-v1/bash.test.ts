import { BashClient } from '@openhands/typescript-client/clients';
import { RemoteWorkspace } from '@openhands/typescript-client/workspace/remote-workspace';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.js';

let server: TestServer;
let bash: BashClient;

beforeAll(async () => {
  server = await startServer();
  bash = new BashClient(server);
});
afterAll(() => server[Symbol.asyncDispose]());

describe('executeCommand', () => {
  test('gives both streams and the exit code in one event', async () => {
    const output = await bash.executeCommand('echo out; echo err >&2; exit 3');
    expect(output).toEqual({
      kind: 'BashOutput',
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      command_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      order: expect.any(Number),
      exit_code: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  test('leaves a stream that stayed empty null', async () => {
    expect(await bash.executeCommand('true')).toMatchObject({ exit_code: 0, stdout: null, stderr: null });
  });

  test('starts in the workspace unless told otherwise, and speaks bash', async () => {
    expect((await bash.executeCommand('pwd')).stdout).toBe(`${server.workspace}\n`);
    await bash.executeCommand('mkdir -p sub');
    expect((await bash.executeCommand('[[ a == a ]] && pwd', `${server.workspace}/sub`)).stdout).toBe(
      `${server.workspace}/sub\n`,
    );
  });

  test('keeps nothing from one command to the next', async () => {
    await bash.executeCommand('cd /; export KEPT=1');
    expect((await bash.executeCommand('echo "$KEPT"; pwd')).stdout).toBe(`\n${server.workspace}\n`);
  });

  test('ends the whole process tree at the timeout, with exit code -1 and what was printed', async () => {
    const begun = performance.now();
    const output = await bash.executeCommand('echo before; sleep 60 & sleep 60', undefined, 1);
    expect(output).toMatchObject({ exit_code: -1, stdout: 'before\n' });
    expect(performance.now() - begun).toBeLessThan(20_000);
  });

  test('explains a command that could not be started', async () => {
    const output = await bash.executeCommand('true', `${server.workspace}/missing`);
    expect(output.exit_code).toBe(-1);
    expect(output.stderr).toContain('missing');
  });

  test('tells a signal as its negative number', async () => {
    expect((await bash.executeCommand('kill -9 $$')).exit_code).toBe(-9);
  });

  test('answers with output of several pieces in full', async () => {
    const output = await bash.executeCommand('head -c 3000000 /dev/zero | tr "\\0" x; echo; echo err >&2');
    expect(output.stdout).toBe(`${'x'.repeat(3_000_000)}\n`);
    expect(output.stderr).toBe('err\n');
  });

  test('keeps characters whole where pieces are cut', async () => {
    const output = await bash.executeCommand("printf 'ä€😀%.0s' $(seq 100000)");
    expect(output.stdout).toBe('ä€😀'.repeat(100_000));
  });

  test('bounds what it keeps of endless output, and says so', async () => {
    const output = await bash.executeCommand('head -c 30000000 /dev/zero | tr "\\0" x; echo end');
    expect(output.stdout?.length).toBeLessThan(10_000_000);
    expect(output.stdout).toMatch(/^\[\.\.\. earlier output was left out \.\.\.\]\n/);
    expect(output.stdout?.endsWith('end\n')).toBe(true);
  });

  test('runs many at a time', async () => {
    const outputs = await Promise.all(
      Array.from({ length: 20 }, (_, index) => bash.executeCommand(`sleep 0.1; echo ${index}`)),
    );
    expect(outputs.map(({ stdout }) => stdout)).toEqual(outputs.map((_, index) => `${index}\n`));
  });

  test('serves a RemoteWorkspace', async () => {
    const workspace = new RemoteWorkspace({ ...server, workingDir: server.workspace });
    expect(await workspace.executeCommand('echo hi; exit 2')).toEqual({
      command: 'echo hi; exit 2',
      exit_code: 2,
      stdout: 'hi\n',
      stderr: '',
      timeout_occurred: false,
    });
  });
});

describe('startCommand', () => {
  test('answers at once; output comes while the command runs, in order, and ends with the exit code', async () => {
    await bash.executeCommand('mkfifo gate');
    const command = await bash.startCommand('echo one; read < gate; echo two; exit 4', undefined, 60);
    expect(command).toMatchObject({ kind: 'BashCommand', cwd: null, timeout: 60 });
    expect(await outputsUntil(command.id, (all) => all.length > 0)).toMatchObject([
      { order: 0, exit_code: null, stdout: 'one\n' },
    ]);
    await bash.executeCommand('echo > gate');
    const outputs = await outputsUntil(command.id, (all) => all.at(-1)?.exit_code !== null);
    expect(outputs.map(({ order }) => order)).toEqual(outputs.map((_, index) => index));
    expect(outputs.map(({ stdout }) => stdout ?? '').join('')).toBe('one\ntwo\n');
    expect(outputs.at(-1)?.exit_code).toBe(4);
  });
});

describe('events', () => {
  test('are found by id, one by one and together', async () => {
    const output = await bash.executeCommand('echo found');
    const missing = 'f'.repeat(32);
    const command = await bash.getEvent(output.command_id);
    expect(command).toMatchObject({ kind: 'BashCommand', command: 'echo found' });
    const ids = [output.command_id, missing, output.id ?? ''];
    expect(await bash.batchGetEvents(ids)).toEqual([command, null, output]);
    expect(await bash.getEvents(ids)).toEqual([command, null, output]);
    await expect(bash.getEvent(missing)).rejects.toMatchObject({ status: 404 });
  });

  test('are cleared, and counted', async () => {
    await using own = await startServer();
    const client = new BashClient(own);
    await client.executeCommand('true');
    await client.executeCommand('true');
    expect(await client.clearEvents()).toEqual({ cleared_count: 4 });
    expect(await client.searchEvents()).toEqual({ items: [], next_page_id: null });
  });
});

describe('search', () => {
  test('pages through all events in both directions', async () => {
    await using own = await startServer();
    const client = new BashClient(own);
    for (let index = 0; index < 5; index++) await client.executeCommand(`echo ${index}`);
    const all = await client.searchEvents();
    expect(all.items.map(({ kind }) => kind)).toEqual(
      Array.from({ length: 5 }, () => ['BashCommand', 'BashOutput']).flat(),
    );
    expect(await allPages(client, { limit: 3 })).toEqual(all.items);
    expect(await allPages(client, { limit: 3, sort_order: 'TIMESTAMP_DESC' })).toEqual(
      [...all.items].reverse(),
    );
  });

  test('filters by kind, command, order and time', async () => {
    await using own = await startServer();
    const client = new BashClient(own);
    const first = await client.executeCommand('echo 1');
    const second = await client.executeCommand('echo 2');
    const found = async (query: Parameters<BashClient['searchEvents']>[0]) =>
      (await client.searchEvents(query)).items.map(({ id }) => id);
    expect(await found({ kind__eq: 'BashCommand' })).toEqual([first.command_id, second.command_id]);
    expect(await found({ kind__eq: 'BashOutput' })).toEqual([first.id, second.id]);
    expect(await found({ command_id__eq: second.command_id })).toEqual([second.id]);
    expect(await found({ command_id__eq: second.command_id, order__gt: 0 })).toEqual([]);
    expect(await found({ command_id__eq: second.command_id, order__gt: -1 })).toEqual([second.id]);
    const since = second.timestamp ?? '';
    expect(await found({ timestamp__gte: since })).toEqual([second.id]);
    expect(await found({ timestamp__lt: since })).toEqual([first.command_id, first.id, second.command_id]);
    expect(await found({ timestamp__gte: since.replace('Z', '+00:00') })).toEqual([second.id]);
  });
});

async function allPages(client: BashClient, query: Parameters<BashClient['searchEvents']>[0]) {
  const items = [];
  let pageId: string | null | undefined;
  do {
    const page = await client.searchEvents({ ...query, ...(pageId ? { page_id: pageId } : {}) });
    items.push(...page.items);
    pageId = page.next_page_id;
  } while (pageId);
  return items;
}

interface Output {
  order: number;
  exit_code: number | null;
  stdout: string | null;
}

async function outputsUntil(id: string | undefined, isEnough: (outputs: Output[]) => boolean) {
  for (;;) {
    const page = await bash.searchEvents({ kind__eq: 'BashOutput', command_id__eq: id ?? '' });
    const outputs = page.items as unknown as Output[];
    if (isEnough(outputs)) return outputs;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

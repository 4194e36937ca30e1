/** The workspace as a website, for a page that cannot send headers. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { RemoteWorkspace } from '@openhands/typescript-client/workspace/remote-workspace';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.js';

let server: TestServer;
let workspace: RemoteWorkspace;
const conversation = '7f3b9a52-5f0c-4c5e-9d55-0f7a3c1e2b4d';
beforeAll(async () => {
  server = await startServer();
  workspace = new RemoteWorkspace({ ...server, workingDir: server.workspace });
  mkdirSync(`${server.workspace}/report`);
  writeFileSync(`${server.workspace}/report/index.html`, '<h1>Report</h1>');
  writeFileSync(`${server.workspace}/plot.png`, 'png');
});
afterAll(() => server[Symbol.asyncDispose]());

async function cookie(): Promise<string> {
  const answer = await server.fetch('/api/auth/workspace-session', { method: 'POST' });
  expect(answer.status).toBe(204);
  return answer.headers.get('set-cookie') ?? '';
}

test('is served to who has a session, with types, index pages and no power over who looks', async () => {
  const place = await workspace.startWorkspaceSession(conversation);
  expect(place).toBe(`${server.host}/api/conversations/${conversation}/workspace/`);
  const set = await cookie();
  expect(set).toMatch(
    /^oh_workspace_session_key=[\w-]{32}; Max-Age=\d+; Path=\/api\/conversations; HttpOnly; SameSite=None; Secure; Partitioned$/,
  );
  const headers = { cookie: `other=1; ${set.split(';')[0]}` };
  for (const name of ['report', 'report/', 'report/index.html']) {
    const page = await fetch(`${place}${name}`, { headers });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html']);
    expect(page.headers.get('content-security-policy')).toMatch(/^sandbox (?!.*allow-same-origin)/);
    expect(await page.text()).toBe('<h1>Report</h1>');
  }
  const picture = await fetch(`${place}plot.png`, { headers });
  expect([picture.headers.get('content-type'), await picture.text()]).toEqual(['image/png', 'png']);
});

test('the cookie is no session key, and is good for nothing else', async () => {
  const [pair = ''] = (await cookie()).split(';');
  expect(pair).not.toContain(server.apiKey);
  for (const path of ['/api/tools/', '/api/file/home', '/api/conversations'])
    expect((await fetch(`${server.host}${path}`, { headers: { cookie: pair } })).status).toBe(401);
  const value = pair.split('=')[1] ?? '';
  const other = await fetch(`${server.host}/api/tools/`, { headers: { 'x-session-api-key': value } });
  expect(other.status).toBe(401);
});

test('nothing is served without a session, from elsewhere, or that is not there', async () => {
  const place = await workspace.startWorkspaceSession(conversation);
  for (const headers of [
    {},
    { cookie: 'oh_workspace_session_key=wrong' },
    { cookie: 'oh_workspace_session_key' },
  ])
    expect((await fetch(`${place}plot.png`, { headers: headers as Record<string, string> })).status).toBe(
      401,
    );
  symlinkSync('/etc/passwd', `${server.workspace}/way-out`);
  const path = `/api/conversations/${conversation}/workspace`;
  const statuses = async (...names: string[]) =>
    Promise.all(names.map(async (name) => (await server.fetch(`${path}${name}`)).status));
  expect(await statuses('/%2e%2e%2f%2e%2e%2fetc/passwd', '/..%2f', '/%00')).toEqual([400, 400, 422]);
  expect(await statuses('', '/', '/none', '/report/none')).toEqual([404, 404, 404, 404]);
  expect(await statuses('/way-out')).toEqual([403]);
  expect((await server.fetch('/api/conversations/nonsense/workspace/plot.png')).status).toBe(422);
});

test('a session ends', async () => {
  await workspace.deleteWorkspaceSession();
  const answer = await server.fetch('/api/auth/workspace-session', { method: 'DELETE' });
  expect(answer.headers.get('set-cookie')).toMatch(/^oh_workspace_session_key=; Max-Age=0; /);
});

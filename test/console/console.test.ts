/** The console in a real browser, at a real service with real cells. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operatorKey, type ServedConsole, serveConsole } from './served-console.js';

let served: ServedConsole;
beforeAll(async () => {
  served = await serveConsole();
});
afterAll(() => served?.close());

const get = async (path: string, key: string, options: RequestInit = {}) => {
  const response = await fetch(`${served.url}${path}`, {
    ...options,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });
  return { status: response.status, body: (await response.json().catch(() => undefined)) as unknown };
};

test('records and questions are for those who may see the cell, and answers for an admin', async () => {
  const [mine, theirs] = await Promise.all(
    ['mine', 'theirs'].map((tenant) => served.client.createKey({ tenant, role: 'admin' })),
  );
  const user = await served.client.createKey({ tenant: 'mine', role: 'user' });
  const made = await get('/v1/cells', user.key, { method: 'POST', body: '{}' });
  const { id } = made.body as { id: string };
  const asking = get(`/v1/cells/${id}/v1/actions`, user.key, {
    method: 'POST',
    body: JSON.stringify({ action: 'run', command: 'touch asked-by-key' }),
  });
  const waiting = async (key: string) =>
    (await get('/v1/questions', key)).body as { id: string; cell: string }[];
  await expect.poll(() => waiting(user.key), { timeout: 30_000 }).toMatchObject([{ cell: id }]);
  const [question] = await waiting(user.key);
  const answer = (key: string) =>
    get(`/v1/questions/${question?.id}`, key, { method: 'POST', body: '{"answer":"approve"}' });
  expect(await waiting(theirs?.key ?? '')).toEqual([]);
  expect((await answer(theirs?.key ?? '')).status).toBe(404);
  expect((await answer(user.key)).status).toBe(403);
  expect((await answer(mine?.key ?? '')).status).toBe(204);
  expect((await answer(mine?.key ?? '')).status).toBe(404);
  expect((await asking).body).toMatchObject({ observation: 'run', exitCode: 0 });
  for (const path of [`/v1/records/${id}`, `/v1/records/${id}/follow`])
    expect((await get(path, theirs?.key ?? '')).status).toBe(404);
  expect((await get('/v1/records', theirs?.key ?? '')).body).toEqual([]);
  expect((await get('/v1/activity', theirs?.key ?? '')).body).toEqual([]);
  expect((await get(`/v1/records/${id}?text=asked-by-key&kind=action`, user.key)).body).toMatchObject({
    events: [{ kind: 'action', action: { command: 'touch asked-by-key' } }],
  });
  expect((await get('/v1/activity', user.key)).body).toMatchObject([
    { id, action: 'run touch asked-by-key' },
  ]);
  await get(`/v1/cells/${id}`, user.key, { method: 'DELETE' });
});

test('the page loads under its policy, and the key leaves the address', async () => {
  const answer = await fetch(`${served.url}/console/`);
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(await answer.text()).not.toMatch(/<script(?![^>]* src="\/console\/)/);
  const { page, problems } = await served.open('/cells');
  await page.getByText('There are no cells yet.').waitFor();
  expect(page.url()).not.toContain(operatorKey);
  expect(await page.evaluate('document.documentElement.outerHTML')).not.toContain(operatorKey);
  await page.reload();
  await page.getByText('There are no cells yet.').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('without a key there is nothing to see', async () => {
  const { page } = await served.open('/cells');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Key').fill('a-key-that-nobody-has');
  await page.getByRole('button', { name: 'Open the console' }).click();
  await page.getByText('no valid key').waitFor();
  await page.getByLabel('Key').fill(operatorKey);
  await page.getByRole('button', { name: 'Open the console' }).click();
  await page.getByRole('heading', { name: 'Cells', exact: true }).waitFor();
  await page.context().close();
});

test('a cell is made, watched as it works in two browsers, and ended', async () => {
  const { page, problems } = await served.open('/cells');
  await page.getByRole('button', { name: 'New cell' }).click();
  await page.getByLabel('Template').selectOption('short');
  await page.getByLabel('Name').fill('looked-at');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByRole('heading', { name: 'looked-at' }).waitFor();
  const { id } = await served.client.get('looked-at');
  const other = await served.open(`/cells/${id}`);
  await served.act(id, { action: 'run', command: 'echo one; echo two; exit 3' });
  await served.act(id, { action: 'write', path: 'a.txt', content: 'first\n' });
  await served.act(id, { action: 'edit', path: 'a.txt', oldText: 'first', newText: 'second' });
  for (const each of [page, other.page]) {
    await each.getByRole('option', { name: /run.*echo one.*exit 3/ }).click();
    await each.getByRole('region', { name: 'Details' }).getByText('one\ntwo').waitFor();
  }
  await other.page.context().close();
  // What did it change?
  await page.getByRole('link', { name: 'changes' }).click();
  await page.getByText('+second').waitFor();
  await page.getByRole('link', { name: 'Cells', exact: true }).click();
  const row = page.getByRole('row', { name: /looked-at/ });
  await row.getByText('edit a.txt').waitFor();
  await row.getByRole('button', { name: 'Pause' }).click();
  await row.getByText('paused').waitFor();
  await row.getByRole('button', { name: 'Resume' }).click();
  await row.getByText('running').waitFor();
  const before = Date.parse((await served.client.get(id)).expiresAt ?? '');
  expect(before).toBeGreaterThan(Date.now());
  await row.getByRole('button', { name: 'End', exact: true }).click();
  await row.getByRole('button', { name: 'End it' }).click();
  await row.waitFor({ state: 'detached' });
  await expect(served.client.get(id)).rejects.toMatchObject({ code: 'cell-not-found' });
  expect(problems).toEqual([]);
  // Its record stays.
  await page.getByRole('link', { name: 'Records' }).click();
  await page.getByRole('link', { name: id }).click();
  await page.getByRole('option', { name: /run.*echo one/ }).waitFor();
  await page.context().close();
});

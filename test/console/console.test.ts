/** The console in a real browser, at a real service with real cells. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import axe from 'axe-core';
import type { Download } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WorkcellEvent } from '../../src/protocol/index.js';
import { openEventStore } from '../../src/runtime/events/open.js';
import { serveRecords } from '../../src/service/serve-records.js';
import { goTo, operatorKey, type ServedConsole, serveConsole } from './served-console.js';

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
  expect((await get('/v1/records', theirs?.key ?? '')).body).toEqual({ records: [] });
  expect((await get('/v1/activity', theirs?.key ?? '')).body).toEqual([]);
  expect((await get(`/v1/records/${id}?text=asked-by-key&kind=action`, user.key)).body).toMatchObject({
    events: [{ kind: 'action', action: { command: 'touch asked-by-key' } }],
  });
  expect((await get('/v1/activity', user.key)).body).toMatchObject([
    { id, action: 'run touch asked-by-key' },
  ]);
  await served.client.remove(id);
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

test('a question is answered with one key, and the action goes on', async () => {
  const { id } = await served.client.create({ name: 'asks' });
  const asking = served.act(id, {
    action: 'run',
    command: 'touch asked-in-page; echo done',
    env: { GIT_SSH_COMMAND: 'sh -c evil' },
  });
  const { page, problems } = await served.open('/cells');
  await page.getByRole('link', { name: 'Questions, 1 waiting' }).click();
  const card = page.getByRole('article', { name: 'Question about run' });
  await card.getByText('touch asked-in-page').waitFor();
  await card.getByText('the test wants a person').waitFor();
  await card.getByText('"GIT_SSH_COMMAND": "sh -c evil"').waitFor();
  // A command counts once.
  expect(await card.getByRole('button', { name: 'For this cell' }).count()).toBe(0);
  const [question] = (await get('/v1/questions', operatorKey)).body as { id: string }[];
  const body = JSON.stringify({ answer: 'approve', scope: 'cell' });
  const often = await get(`/v1/questions/${question?.id}`, operatorKey, { method: 'POST', body });
  expect(often.status).toBe(400);
  await card.focus();
  await page.keyboard.press('a');
  expect(await asking).toMatchObject({ exitCode: 0, output: 'done\n' });
  await page.getByText('Nothing waits for you.').waitFor();
  const refused = served.act(id, { action: 'run', command: 'touch asked-again' });
  await card.getByRole('button', { name: 'Refuse' }).click();
  expect(await refused).toMatchObject({ error: { code: 'denied' } });
  expect(problems).toEqual([]);
  await page.context().close();
  await served.client.remove(id);
});

test('an action is allowed for the cell with one key, and is no question there again', async () => {
  const { id } = await served.client.create({ name: 'asks-once' });
  const again = { action: 'write', path: 'asked-often', content: 'x' };
  const asking = served.act(id, again);
  const { page, problems } = await served.open('/questions');
  const card = page.getByRole('article', { name: 'Question about write' });
  await card.getByText(/asked-often/).waitFor();
  const [question] = (await get('/v1/questions', operatorKey)).body as { id: string }[];
  const refusal = JSON.stringify({ answer: 'deny', scope: 'cell' });
  const wrong = await get(`/v1/questions/${question?.id}`, operatorKey, { method: 'POST', body: refusal });
  expect(wrong.status).toBe(400);
  await card.focus();
  await page.keyboard.press('c');
  expect(await asking).toMatchObject({ sizeBytes: 1 });
  expect(await served.act(id, again)).toMatchObject({ sizeBytes: 1 });
  await page.evaluate(`location.hash = '#/cells/${id}'`);
  await page
    .getByRole('option', { name: /asked-often/ })
    .nth(1)
    .click();
  const details = page.getByRole('region', { name: 'Details' });
  await details.getByText('A person allowed it for this cell.').waitFor();
  await page.evaluate("location.hash = '#/questions'");
  const other = await served.client.create({ name: 'asks-too' });
  const refused = served.act(other.id, again);
  await card.getByRole('button', { name: 'Refuse' }).click();
  expect(await refused).toMatchObject({ error: { code: 'denied' } });
  expect(problems).toEqual([]);
  await page.context().close();
  await Promise.all([served.client.remove(id), served.client.remove(other.id)]);
});

test('a host that a cell wants to reach is a question, and the answer can hold for the cell', async () => {
  const { id } = await served.client.create({ name: 'reaches', template: 'asking' });
  const asking = served.act(id, {
    action: 'run',
    command: 'curl -sS http://asked.test/ && curl -sS http://asked.test/again',
  });
  const { page, problems } = await served.open('/questions');
  const card = page.getByRole('article', { name: 'Question about reach' });
  await card.getByText('reach asked.test, port 80').waitFor();
  const [question] = (await get('/v1/questions', operatorKey)).body as { id: string; kind: string }[];
  expect(question).toMatchObject({ kind: 'host', cell: id });
  // What holds for others is the operator's to say, in the configuration.
  const always = JSON.stringify({ answer: 'approve', scope: 'always' });
  const refused = await get(`/v1/questions/${question?.id}`, operatorKey, { method: 'POST', body: always });
  expect(refused.status).toBe(400);
  await card.getByRole('button', { name: 'For this cell' }).click();
  expect(await asking).toMatchObject({ exitCode: 0, output: 'herehere' });
  await page.getByText('Nothing waits for you.').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
  await served.client.remove(id);
});

test('a terminal of your own works, and its sequences change nothing outside of it', async () => {
  const { id } = await served.client.create({ name: 'terminal' });
  const { page, problems } = await served.open(`/cells/${id}/terminal`);
  await page.getByRole('button', { name: 'Open a terminal' }).click();
  const screen = page.locator('.xterm-rows');
  await screen.getByText('$').first().waitFor();
  await page.keyboard.type(
    "printf '\\e]0;evil\\a\\e]52;c;ZXZpbA==\\a\\e]8;;javascript:alert(1)\\a<img src=x onerror=alert(1)>\\e]8;;\\a\\n'; echo $((6*7))is\n",
  );
  await screen.getByText('42is').waitFor();
  await screen.getByText('<img src=x onerror=alert(1)>', { exact: true }).first().waitFor();
  expect(await page.title()).toBe('Workcell');
  expect(await page.locator('section[aria-label=Terminal] img').count()).toBe(0);
  await page.keyboard.type('exit 7\n');
  await page.getByText('exit code 7').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
  await served.client.remove(id);
});

test('hostile names, output and lines are text, in every view', async () => {
  const { id } = await served.client.create({
    name: 'hostile',
    labels: { note: '<img src=x onerror=alert(1)>' },
  });
  const name = '<img src=x onerror=alert(1)>\u202etxt.exe';
  await served.act(id, { action: 'write', path: name, content: '<script>alert(1)</script>\u200bhidden' });
  await served.act(id, {
    action: 'run',
    command: 'printf "<svg onload=alert(1)>\\u202eback"; head -c 300000 /dev/zero | tr "\\0" x',
  });
  await served.act(id, { action: 'read', path: 'missing\u202etxt' });
  const { page, problems } = await served.open('/cells');
  let dialogs = 0;
  page.on('dialog', (dialog) => {
    dialogs++;
    void dialog.dismiss();
  });
  const expectText = async () =>
    expect(await page.locator('main img, main svg, main script').count()).toBe(0);
  await page.getByText('note=<img src=x onerror=alert(1)>').waitFor();
  await expectText();
  await page.getByRole('link', { name: 'hostile' }).click();
  await page.getByRole('option', { name: /write/ }).click();
  const details = page.getByRole('region', { name: 'Details' });
  await details.getByText('<script>alert(1)</script>').waitFor();
  await details.getByText('U+200B').waitFor();
  await expectText();
  await page.getByRole('option', { name: /run printf/ }).click();
  await details.getByText('<svg onload=alert(1)>').first().waitFor();
  await details.getByText('U+202E').first().waitFor();
  await expectText();
  await page.getByRole('option', { name: /read missing/ }).click();
  await details.getByRole('alert').getByText('U+202E').waitFor();
  await page.getByRole('link', { name: 'changes' }).click();
  await page.getByText('+<script>alert(1)</script>').waitFor();
  await expectText();
  await page.getByRole('link', { name: 'files' }).click();
  await page.getByRole('button', { name: /<img src=x onerror=alert\(1\)>U\+202Etxt\.exe/ }).click();
  await page
    .getByRole('region', { name: 'File', exact: true })
    .getByText('<script>alert(1)</script>')
    .waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download', exact: true }).click();
  expect(await textOf(await download)).toBe('<script>alert(1)</script>\u200bhidden');
  await expectText();
  expect(dialogs).toBe(0);
  expect(problems).toEqual([]);
  await page.context().close();
  await served.client.remove(id);
});

test('a timeline finds its place again when the service restarts, and says when its cell is gone', async () => {
  const { id } = await served.client.create({ name: 'restarted' });
  await served.act(id, { action: 'run', command: 'echo before' });
  const { page } = await served.open(`/cells/${id}`);
  const line = (text: string) => page.getByRole('option', { name: new RegExp(`run.*${text}`) });
  await line('before').waitFor();
  await served.restart();
  await served.act(id, { action: 'run', command: 'echo after' });
  await line('after').waitFor();
  expect(await line('before').count()).toBe(1);
  await served.client.remove(id);
  await page.getByText(/There is no cell/).waitFor();
  await line('after').waitFor();
  await page.context().close();
});

test('a record of ten thousand events opens, scrolls, is searched, replayed and exported', async () => {
  const store = await openEventStore(`sqlite:${join(served.directory, 'events.db')}`);
  const runtimeId = 'a-long-record';
  const common = { at: Date.now(), runtimeId, source: 'agent' as const };
  const events = Array.from({ length: 5000 }, (_, index): WorkcellEvent[] => [
    { ...common, id: 2 * index + 1, kind: 'action', action: { action: 'run', command: `step ${index}` } },
    {
      ...common,
      id: 2 * index + 2,
      kind: 'observation',
      cause: 2 * index + 1,
      observation: {
        observation: 'run',
        exitCode: 0,
        output: index === 4321 ? `${'x'.repeat(5000)} needle` : `output ${index}`,
      },
    },
  ]).flat();
  await store.append(events);
  await store.close();
  const { page, problems } = await served.open(`/records/${runtimeId}`);
  const list = page.getByRole('listbox', { name: 'What happened' });
  await page.getByText('– / 5000').waitFor();
  expect(await list.getByRole('option').count()).toBeLessThan(80);
  await list.focus();
  await page.keyboard.press('End');
  await list.getByRole('option', { name: /step 4999/, selected: true }).waitFor();
  await page.keyboard.press('ArrowUp');
  await page.getByRole('region', { name: 'Details' }).getByText('output 4998').waitFor();
  // A moment has an address.
  expect(page.url()).toContain('at=9997');
  await page.reload();
  await list.getByRole('option', { name: /step 4998/, selected: true }).waitFor();
  await page.getByLabel('Search the record').fill('needle');
  await list.getByRole('option', { name: /step 4321/ }).click();
  expect(await list.getByRole('option').count()).toBe(1);
  await page.getByRole('region', { name: 'Details' }).getByText('needle').waitFor();
  await page.getByLabel('Search the record').fill('');
  await page.getByLabel('Moment of the record').fill('12');
  await page.getByRole('region', { name: 'Details' }).getByText('output 12', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Play the record' }).click();
  // It goes on by itself, and each step is there for a moment only.
  await expect
    .poll(() => Number(/at=(\d+)/.exec(page.url())?.[1]), { timeout: 20_000 })
    .toBeGreaterThanOrEqual(29);
  for (const [form, check] of [
    ['JSON lines', (text: string) => expect(text.trim().split('\n')).toHaveLength(10_000)],
    ['Terminal recording (asciicast)', (text: string) => expect(text).toContain('"$ step 77\\r\\n"')],
    ['Page that opens without a server (HTML)', (text: string) => expect(text).toContain('needle')],
  ] as const) {
    const download = page.waitForEvent('download');
    await page.getByLabel('Export the record').selectOption(form);
    check(await textOf(await download));
  }
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a search finds all of what large outputs hold', async () => {
  const store = await openEventStore(`sqlite:${join(served.directory, 'events.db')}`);
  const runtimeId = 'large-outputs';
  const common = { at: Date.now(), runtimeId, source: 'agent' as const };
  // More than one page of a record has.
  const output = `${'x'.repeat(900_000)} needle`;
  for (let id = 1; id < 14; id += 2)
    await store.append([
      { ...common, id, kind: 'action', action: { action: 'run', command: `step ${id}` } },
      {
        ...common,
        id: id + 1,
        kind: 'observation',
        cause: id,
        observation: { observation: 'run', exitCode: 0, output },
      },
    ]);
  await store.close();
  const { page, problems } = await served.open(`/records/${runtimeId}`);
  await page.getByText('– / 7').waitFor();
  await page.getByLabel('Search the record').fill('needle');
  const lines = page.getByRole('listbox', { name: 'What happened' }).getByRole('option');
  await expect.poll(() => lines.count(), { timeout: 20_000 }).toBe(7);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('every view passes axe in both colours, and fits a telephone', async () => {
  const { id } = await served.client.create({ name: 'plain', labels: { team: 'web' } });
  await served.act(id, { action: 'run', command: 'exit 1' });
  await served.act(id, { action: 'write', path: 'a.txt', content: 'one\n' });
  const views = ['/cells', '/records', '/questions', `/cells/${id}/timeline?at=4`];
  const tabs = ['changes', 'files', 'processes', 'ports', 'isolation', 'terminal'];
  const pages = [...views, ...tabs.map((tab) => `/cells/${id}/${tab}`)];
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const) {
    const { page } = await served.open('/cells', { colorScheme, viewport: { width, height: 740 } });
    await page.getByText('plain').waitFor();
    await page.evaluate(axe.source);
    for (const path of pages) {
      await goTo(page, path);
      const { violations } = await page.evaluate<{ violations: Violation[] }>(
        "axe.run({ resultTypes: ['violations'] })",
      );
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(serious.map(({ id: rule, nodes }) => `${path}: ${rule} ${nodes[0]?.html}`)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(width);
    }
    await page.context().close();
  }
  await served.client.remove(id);
});

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

test('without a service the page shows the records of this machine', async () => {
  const token = 'a-token-of-this-very-test';
  const store = `sqlite:${join(served.directory, 'events.db')}`;
  const listen = { host: '127.0.0.1', port: 0 };
  const server = await serveRecords({ listen, token, store, console: served.built });
  const { port } = server.address as { port: number };
  const url = `http://127.0.0.1:${port}`;
  expect((await fetch(`${url}/v1/records`)).status).toBe(401);
  const { page } = await served.open('/cells');
  await page.goto(`${url}/console/#key=${token}`);
  await page.getByRole('heading', { name: 'Records' }).waitFor();
  expect(await page.getByRole('link', { name: 'Cells', exact: true }).count()).toBe(0);
  await page.getByRole('link', { name: 'a-long-record' }).click();
  await page.getByRole('option', { name: /step 4999/ }).waitFor();
  await page.context().close();
  await server.close();
});

test('the console weighs at most 600 kB on the wire', () => {
  const sizes = readdirSync(served.built, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => gzipSync(readFileSync(join(entry.parentPath, entry.name))).length);
  expect(sizes.length).toBeGreaterThan(3);
  expect(sizes.reduce((sum, more) => sum + more, 0)).toBeLessThan(600_000);
});

async function textOf(download: Download): Promise<string> {
  return readFileSync(await download.path(), 'utf8');
}

/** What the console shows of cells at work, and what it does for a reader who looks elsewhere. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WorkcellEvent } from '../../src/protocol/index.js';
import { openEventStore } from '../../src/runtime/events/open.js';
import { operatorKey, type ServedConsole, serveConsole } from './served-console.js';

let served: ServedConsole;
beforeAll(async () => {
  served = await serveConsole();
});
afterAll(() => served?.close());

const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' };
const get = async (path: string) => (await fetch(`${served.url}${path}`, { headers })).json();
const post = (path: string, body: object) =>
  fetch(`${served.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });

/** A record as if a runtime had written it. */
async function keep(runtimeId: string, events: readonly object[]): Promise<void> {
  const store = await openEventStore(`sqlite:${join(served.directory, 'events.db')}`);
  const last = await store.last(runtimeId);
  const common = { at: 1_700_000_000_000, runtimeId, source: 'agent' };
  await store.append(
    events.map((event, index) => ({ ...common, id: last + index + 1, ...event }) as WorkcellEvent),
  );
  await store.close();
}

test('a question that comes while the reader looks elsewhere is told by the title and a notification', async () => {
  const { id } = await served.client.create({ name: 'elsewhere' });
  const { page, problems } = await served.open('/cells', { permissions: ['notifications'] });
  await page.getByText('elsewhere').waitFor();
  // Playwright keeps every page visible, so the page is told that it is not.
  await page.evaluate(`
    window.told = [];
    window.Notification = class extends Notification {
      constructor(title, options) { super(title, options); window.told.push(title + ': ' + options.body); }
    };
    Object.defineProperty(document, 'hidden', { get: () => true });
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
  const listed = page.waitForResponse((response) => response.url().endsWith('/v1/questions'));
  await listed;
  const asking = served.act(id, { action: 'run', command: 'touch asked-meanwhile' });
  await expect
    .poll(() => page.evaluate('window.told'), { timeout: 20_000 })
    .toEqual(['An action waits for your answer: run']);
  expect(await page.title()).toBe('(1) Workcell');
  const [question] = (await get('/v1/questions')) as { id: string }[];
  await post(`/v1/questions/${question?.id}`, { answer: 'approve' });
  await asking;
  expect(problems).toEqual([]);
  await page.context().close();
  await served.client.remove(id);
});

test('a long action with thousands of marks costs one request, and none for each further mark', async () => {
  const id = 'many-marks';
  const mark = (pieces: number) => ({
    kind: 'progress',
    cause: 1,
    progress: { pieces, outputBytes: pieces * 100 },
  });
  await keep(id, [
    { kind: 'action', action: { action: 'run', command: `true # ${'x'.repeat(5000)} the end` } },
    ...Array.from({ length: 3000 }, (_, index) => mark(index + 1)),
  ]);
  const { page, problems } = await served.open('/cells');
  const asked: string[] = [];
  page.on('request', (request) => /limit=1$/.test(request.url()) && asked.push(request.url()));
  await page.evaluate(`location.hash = '#/records/${id}/timeline?at=1'`);
  const details = page.getByRole('region', { name: 'Details' });
  await details.getByText('the end').waitFor();
  await keep(id, [
    mark(3001),
    { kind: 'status', status: { status: 'READY', level: 'info', message: 'after' } },
  ]);
  await page.getByRole('option', { name: /ready after/ }).waitFor();
  // What the page asks for after it drew that line would come before the answer to this.
  await page.evaluate(
    "new Promise(requestAnimationFrame).then(() => new Promise(setTimeout)).then(() => fetch('/console/')).then(() => {})",
  );
  expect(asked).toHaveLength(1);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a download that fails says why', async () => {
  const { id } = await served.client.create({ name: 'downloads' });
  const { page } = await served.open(`/cells/${id}/files`);
  await page.getByText('Empty.').waitFor();
  await page.route('**/v1/files?*', (route) => route.abort());
  await page.getByRole('button', { name: 'Download all' }).click();
  await page.getByRole('region', { name: 'Files' }).getByText('The service does not answer.').waitFor();
  await page.getByRole('button', { name: 'Download all' }).waitFor();
  await page.context().close();
  await served.client.remove(id);
});

test('the output of a running command appears as it comes, and leaves nothing in the record', async () => {
  const { id } = await served.client.create({ name: 'prints' });
  await served.act(id, { action: 'run', command: 'true' });
  const { page, problems } = await served.open(`/cells/${id}`);
  await page.getByRole('option', { name: /run true/ }).waitFor();
  const running = served.act(id, {
    action: 'run',
    command: `printf '\\e[31mfirst\\e[0m line\\n<b>20%%</b>\\r<b>40%%</b>\\n'; until [ -e go ]; do sleep 0.1; done; echo last line`,
  });
  await page.getByRole('option', { name: /run printf/ }).click();
  const live = page.getByRole('region', { name: 'output so far' });
  await live.getByText('first line\n<b>40%</b>').waitFor();
  expect(await live.textContent()).not.toMatch(/20%|ESC/);
  await page.getByRole('link', { name: 'transcript' }).click();
  await page.getByRole('region', { name: 'Transcript' }).getByText('first line').waitFor();
  await served.act(id, { action: 'write', path: 'go', content: '' });
  await running;
  await page.getByRole('region', { name: 'Transcript' }).getByText('last line').waitFor();
  // Watching leaves no mark: the record is as it would be without the page.
  const { events } = (await get(`/v1/records/${id}?kind=progress`)) as { events: unknown[] };
  expect(events).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
  await served.client.remove(id);
});

test('a refusal takes a word to the agent along', async () => {
  const { id } = await served.client.create({ name: 'refused' });
  const asking = served.act(id, { action: 'run', command: 'touch asked-for-a-word' });
  const { page, problems } = await served.open('/questions');
  const card = page.getByRole('article', { name: 'Question about run' });
  await card.getByText('touch asked-for-a-word').waitFor();
  const [question] = (await get('/v1/questions')) as { id: string }[];
  const approved = await post(`/v1/questions/${question?.id}`, { answer: 'approve', word: 'go on' });
  expect(approved.status).toBe(400);
  await card.getByLabel('A word to the agent, with a refusal').fill('Use the staging host.');
  await page.keyboard.press('Enter');
  expect(await asking).toMatchObject({
    error: {
      code: 'denied',
      message: expect.stringContaining('A person refused it: Use the staging host.'),
    },
  });
  await page.getByText('Nothing waits for you.').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
  await served.client.remove(id);
});

test('an operator sees what cells use and how the service does, and looking is not recorded', async () => {
  const { id } = await served.client.create({ name: 'uses' });
  await served.act(id, { action: 'start_process', command: 'while :; do :; done' });
  const { page, problems } = await served.open('/cells');
  const row = page.getByRole('row', { name: /uses/ });
  await row.getByText(/^\d+(\.\d)? [kM]B$/).waitFor();
  await row.getByText(/^\d+ %$/).waitFor();
  const strip = page.getByRole('region', { name: 'The service' });
  await strip.getByText('Nothing is wrong.').waitFor();
  await page.evaluate(`location.hash = '#/cells/${id}/processes'`);
  await page
    .getByRole('img', { name: /Processor over time, \d+ % now/ })
    .locator('canvas')
    .waitFor();
  await page
    .getByRole('img', { name: /Memory over time/ })
    .locator('canvas')
    .waitFor();
  const { events } = (await get(`/v1/records/${id}?kind=action&text=stats`)) as { events: unknown[] };
  // That of the table below the graphs, which the reader asked for.
  expect(events.length).toBe(1);
  expect(problems).toEqual([]);
  await page.context().close();
  await served.client.remove(id);
});

test('connections appear by host with the rule that decided and their bytes', async () => {
  const { id } = await served.client.create({ name: 'connects', template: 'asking' });
  const reaching = served.act(id, { action: 'run', command: 'curl -sS http://asked.test/' });
  await expect
    .poll(async () => (await get('/v1/questions')) as object[], { timeout: 20_000 })
    .toHaveLength(1);
  const [question] = (await get('/v1/questions')) as { id: string }[];
  await post(`/v1/questions/${question?.id}`, { answer: 'approve', scope: 'cell' });
  await reaching;
  const { page, problems } = await served.open(`/cells/${id}/network`);
  const row = page.getByRole('row', { name: /asked\.test:80/ });
  await row.getByText('allowed').waitFor();
  await row
    .getByText(/^[1-9]\d* B$/)
    .first()
    .waitFor();
  await row.getByRole('link').click();
  await page.getByRole('region', { name: 'Details' }).getByText('asked.test').first().waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
  await served.client.remove(id);
});

test('a repository shows its branch, what is not committed, and its commits', async () => {
  const { id } = await served.client.create({ name: 'has-git' });
  const who = '-c user.name=a -c user.email=a@b.test';
  await served.act(id, {
    action: 'run',
    command: `git init -q -b work && echo one > a.txt && git add . && git ${who} commit -qm first && echo two > a.txt`,
  });
  const { page, problems } = await served.open(`/cells/${id}/git`);
  await page.getByText('## work').waitFor();
  await page.getByText('+two').waitFor();
  await page.getByRole('region', { name: 'Last commits' }).getByText('first').waitFor();
  await page.getByLabel('Directory of the repository').fill('/tmp');
  await page.getByRole('button', { name: 'Look again' }).click();
  await page.getByRole('alert').getByText('not a git repository').waitFor();
  expect(problems.filter((text) => !text.includes('status of 4'))).toEqual([]);
  await page.context().close();
  await served.client.remove(id);
});

test('what commands changed is found on request, and a file is shown as it was at a moment', async () => {
  const { id } = await served.client.create({ name: 'changes' });
  const name = '<b>made\u202e.txt';
  const long = `first\n${'line of it\n'.repeat(500)}`;
  await served.act(id, { action: 'write', path: 'app.txt', content: long });
  await served.act(id, { action: 'edit', path: 'app.txt', oldText: 'first', newText: 'second' });
  await served.act(id, { action: 'run', command: 'mkdir -p out/deep && echo built > out/deep/built.txt' });
  await served.act(id, { action: 'run', command: `printf x > $'${name}'` });
  const { page, problems } = await served.open(`/cells/${id}/changes`);
  const card = page.getByRole('region', { name: 'Changes of commands' });
  await card.getByRole('button', { name: 'Look at the files' }).click();
  await card.getByRole('link', { name: '<b>madeU+202E.txt' }).waitFor();
  expect(await card.getByRole('listitem').count()).toBe(2);
  expect(await page.locator('main b').count()).toBe(0);
  await page.getByRole('button', { name: 'The whole file' }).click();
  const file = page.getByRole('region', { name: 'app.txt at this moment' });
  await expect.poll(() => file.textContent(), { timeout: 20_000 }).toBe(long.replace('first', 'second'));
  await page.getByLabel('Moment of the record').fill('0');
  await expect.poll(() => file.textContent(), { timeout: 20_000 }).toBe(long);
  await card.getByRole('link', { name: 'out/deep/built.txt' }).click();
  await page.getByRole('region', { name: 'File', exact: true }).getByText('built', { exact: true }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
  await served.client.remove(id);
});

test('afterwards: the transcript and files at a moment, the browser, the lineage, and two runs compared', async () => {
  const run = (command: string, output: string, exitCode = 0) => [
    { kind: 'action', action: { action: 'run', command } },
    { kind: 'observation', observation: { observation: 'run', output, exitCode, endedBy: 'exit' } },
  ];
  const withCauses = (events: readonly object[]) =>
    events.map((event, index) => ('action' in event ? event : { cause: index, ...event }));
  const write = (content: string) => [
    { kind: 'action', action: { action: 'write', path: 'a.txt', content } },
    { kind: 'observation', observation: { observation: 'write' } },
  ];
  const { page, problems } = await served.open('/records');
  const picture = (await page.screenshot()).toString('base64');
  await keep(
    'run-before',
    withCauses([
      ...run('make', 'all is well\n'),
      ...write('one\n'),
      ...run('only before', ''),
      ...write('two\n'),
    ]),
  );
  await keep('run-after', [
    ...withCauses([
      ...run('make', 'it broke\n', 2),
      ...write('one\n'),
      ...write('two\n'),
      { kind: 'action', action: { action: 'browse', url: 'http://shown.test/' } },
      {
        kind: 'observation',
        observation: { observation: 'browse', url: 'http://shown.test/', screenshot: { data: picture } },
      },
    ]),
    { kind: 'checkpoint', checkpoint: { change: 'began', id: 'c1', runtime: 'run-before' } },
  ]);
  await page.evaluate(`location.hash = '#/records/run-before/transcript'`);
  const transcript = page.getByRole('region', { name: 'Transcript' });
  await transcript.getByText('$ make\nall is well\n$ only before').waitFor();
  await page.getByLabel('Moment of the record').fill('0');
  await expect.poll(() => transcript.textContent(), { timeout: 20_000 }).toBe('$ make\nall is well\n');
  await page.getByRole('link', { name: 'changes' }).click();
  await page.getByText('+two').waitFor();
  await page.getByLabel('Moment of the record').fill('0');
  await page.getByText('+two').waitFor({ state: 'detached' });
  await page.getByText('+one').waitFor();
  await page.evaluate(`location.hash = '#/records/run-after/browser'`);
  await page.getByRole('img', { name: "The page in the agent's browser" }).waitFor();
  await page.getByText('http://shown.test/').waitFor();
  await page.getByRole('link', { name: 'timeline' }).click();
  await page.getByRole('option', { name: /began/ }).click();
  await page.getByRole('link', { name: 'run-before' }).click();
  await page.getByRole('option', { name: /only before/ }).waitFor();
  await page.getByRole('link', { name: 'Records' }).click();
  await page.getByLabel('Compare run-before').check();
  await page.getByLabel('Compare run-after').check();
  await page.getByRole('link', { name: 'Compare the two' }).click();
  await page.getByText('3 of 5 differ').waitFor();
  await page.getByRole('option', { name: /only before run only before/ }).waitFor();
  await page.getByRole('option', { name: /differs run make exit 0 → exit 2/ }).click();
  await page.getByRole('region', { name: 'In run-before' }).getByText('all is well').waitFor();
  await page.getByRole('region', { name: 'In run-after' }).getByText('it broke').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

/** The console where things go badly: slow, large, dead, very small and very large; and the pictures of it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WorkcellEvent } from '../../src/protocol/index.js';
import { openEventStore } from '../../src/runtime/events/open.js';
import { goTo, operatorKey, type ServedConsole, serveConsole } from './served-console.js';

let served: ServedConsole;
beforeAll(async () => {
  served = await serveConsole();
});
afterAll(() => served?.close());

test('over a slow network a cell opens, is followed and takes what you type', async () => {
  const { id } = await served.client.create({ name: 'slow' });
  await served.act(id, { action: 'run', command: 'echo early' });
  const { page, problems } = await served.open('/records');
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 200,
    downloadThroughput: 200_000,
    uploadThroughput: 50_000,
  });
  await page.reload();
  await page.evaluate(`location.hash = '#/cells/${id}'`);
  await page.getByRole('option', { name: /run echo early/ }).waitFor();
  await served.act(id, { action: 'run', command: 'head -c 60000 /dev/zero | tr "\\0" x; echo; echo late' });
  await page.getByRole('option', { name: /run head/ }).click();
  await page.getByRole('region', { name: 'Details' }).getByText('late').first().waitFor();
  await page.getByRole('link', { name: 'terminal' }).click();
  await page.getByRole('button', { name: 'Open a terminal' }).click();
  const screen = page.locator('.xterm-rows');
  await screen.getByText('$').first().waitFor();
  await page.keyboard.type('echo $((6*7))is\n');
  await screen.getByText('42is').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
  await served.client.remove(id);
});

test('a cell whose processes are killed is shown as lost, with what ran as failed, and its record stays', async () => {
  const { id } = await served.client.create({ name: 'dies' });
  const word = `dies-${id}`;
  const running = served.act(id, { action: 'run', command: `exec -a ${word} sleep 1000` }).catch(() => {});
  const { page } = await served.open(`/cells/${id}`);
  await page.getByRole('option', { name: /run exec/ }).waitFor();
  let init: number | undefined;
  await expect.poll(() => (init = initOf(word)), { timeout: 20_000 }).toBeGreaterThan(1);
  process.kill(init as number, 'SIGKILL');
  await running;
  await page.locator('.tools .state', { hasText: 'lost' }).waitFor();
  await page.getByRole('option', { name: /failed.*run exec/ }).waitFor();
  await page.getByRole('link', { name: 'Cells', exact: true }).click();
  await page
    .getByRole('region', { name: 'The service' })
    .getByText(/1 lost/)
    .waitFor();
  const row = page.getByRole('row', { name: /dies/ });
  await row.getByRole('button', { name: 'End', exact: true }).click();
  await row.getByRole('button', { name: 'End it' }).click();
  await row.waitFor({ state: 'detached' });
  await page.evaluate(`location.hash = '#/records/${id}'`);
  await page.getByRole('option', { name: /run exec/ }).waitFor();
  await page.context().close();
});

test('a command that prints a hundred megabytes leaves the page small', async () => {
  const { id } = await served.client.create({ name: 'floods' });
  await served.act(id, { action: 'run', command: 'echo a little' });
  const { page, problems } = await served.open(`/cells/${id}`);
  const output = page.getByRole('region', { name: 'output', exact: true });
  await page.getByRole('option', { name: /run echo/ }).click();
  await output.getByText('a little').waitFor();
  const before = await sizeOf(page);
  const running = served.act(id, {
    action: 'run',
    command: `yes ${'x'.repeat(199)} | head -c 100000000; until [ -e go ]; do sleep 0.1; done; echo the end`,
  });
  await page.getByRole('option', { name: /run yes/ }).click();
  await page.getByRole('region', { name: 'output so far' }).getByText('xxx').first().waitFor();
  await served.act(id, { action: 'write', path: 'go', content: '' });
  expect(await running).toMatchObject({ exitCode: 0, truncated: true });
  await output.getByText('the end').waitFor();
  const after = await sizeOf(page);
  // A page that kept a twentieth of the output would be more than twice its size.
  expect(after.heap).toBeLessThan(2 * before.heap);
  expect(after.nodes).toBeLessThan(2 * before.nodes);
  expect(problems).toEqual([]);
  await page.context().close();
  await served.client.remove(id);
});

test('a long record shows its end, or the moment of the address, before all of it is read', async () => {
  const id = 'long-record';
  const commands = 6000;
  await keepCommands(id, commands);
  const { page, problems } = await served.open('/records');
  const list = page.getByRole('listbox', { name: 'What happened' });
  const progress = page.getByRole('progressbar', { name: 'How much of the record is here' });
  let goOn = await holdFollowing(page);
  await page.evaluate(`location.hash = '#/records/${id}'`);
  await list.getByRole('option', { name: /step 5999/ }).waitFor();
  await progress.waitFor();
  await list.hover();
  await page.mouse.wheel(0, -1500);
  const before = list.getByRole('option', { name: /step 5943/ });
  await before.waitFor();
  await goOn();
  // What the reader looks at stays in sight when everything before it arrives.
  await page.getByText(`– / ${commands}`).waitFor();
  const [row, box] = [await before.boundingBox(), await list.boundingBox()];
  expect(row?.y).toBeGreaterThanOrEqual(box?.y ?? Number.NaN);
  expect(row?.y).toBeLessThan((box?.y ?? 0) + (box?.height ?? 0));
  goOn = await holdFollowing(page);
  await page.evaluate(`location.hash = '#/records'`);
  await page.evaluate(`location.hash = '#/records/${id}/timeline?at=4001'`);
  await list.getByRole('option', { name: /step 2000/, selected: true }).waitFor();
  await page.getByRole('region', { name: 'Details' }).getByText('output 2000', { exact: true }).waitFor();
  await progress.waitFor();
  await goOn();
  await page.getByText(`2001 / ${commands}`).waitFor();
  await list.getByRole('option', { name: /step 2000/, selected: true }).waitFor();
  expect(await progress.count()).toBe(0);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('why a command failed and what it changed is three clicks away, and looks as the guide shows', async () => {
  const { id } = await served.client.create({ name: 'fix-login', labels: { team: 'web' } });
  const other = await served.client.create({ name: 'nightly-tests', labels: { team: 'data' } });
  await served.act(other.id, { action: 'run', command: 'pytest -q || echo "no tests ran"' });
  await served.act(id, { action: 'run', command: 'ls -la' });
  await served.act(id, {
    action: 'write',
    path: 'src/login.js',
    content: 'export function login(user) {\n  return user.name;\n}\n',
  });
  await served.act(id, {
    action: 'edit',
    path: 'src/login.js',
    oldText: 'user.name',
    newText: 'user?.name',
  });
  await served.act(id, { action: 'run', command: 'cp src/login.js built.js' });
  await served.act(id, { action: 'run', command: 'cat src/session.js' });
  const asking = served.act(id, { action: 'run', command: 'touch asked-in-production' }).catch(() => {});
  const { page, problems } = await served.open('/cells');
  // Why did this command fail?
  await page.getByRole('link', { name: 'fix-login' }).click();
  await page.getByRole('button', { name: /problems/ }).click();
  await page.getByRole('option', { name: /cat src\/session.js.*exit 1/ }).click();
  const details = page.getByRole('region', { name: 'Details' });
  await details
    .getByText(/No such file/)
    .first()
    .waitFor();
  const at = /at=\d+/.exec(page.url())?.[0] ?? '';
  // What did it change?
  await page.getByRole('link', { name: 'Cells', exact: true }).click();
  await page.getByRole('link', { name: 'fix-login' }).click();
  await page.getByRole('link', { name: 'changes' }).click();
  await page.getByText('+  return user?.name;').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
  await pictures(id, at);
  await refuseAll();
  await asking;
  await served.client.remove(other.id);
  await served.client.remove(id);
});

/** Holds back whole records, until somebody calls the result. */
async function holdFollowing(page: Page): Promise<() => Promise<void>> {
  const held: Route[] = [];
  await page.route('**/follow?*', (route) => void held.push(route));
  return async () => {
    await Promise.all(held.map((route) => route.continue()));
    await page.unroute('**/follow?*');
  };
}

/** A record of commands, as if a runtime had written it. */
async function keepCommands(runtimeId: string, commands: number): Promise<void> {
  const store = await openEventStore(`sqlite:${join(served.directory, 'events.db')}`);
  const common = { at: Date.now(), runtimeId, source: 'agent' as const };
  const events = Array.from({ length: commands }, (_, index): WorkcellEvent[] => {
    const id = 2 * index + 1;
    const observation = { observation: 'run', exitCode: 0, output: `output ${index}` };
    return [
      { ...common, id, kind: 'action', action: { action: 'run', command: `step ${index}` } },
      { ...common, id: id + 1, kind: 'observation', cause: id, observation },
    ];
  }).flat();
  await store.append(events);
  await store.close();
}

/** What the page holds, in bytes and in nodes. */
async function sizeOf(page: Page): Promise<{ heap: number; nodes: number }> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  await devtools.send('Performance.enable');
  const { metrics } = await devtools.send('Performance.getMetrics');
  await devtools.detach();
  const figure = (name: string) => metrics.find((each) => each.name === name)?.value ?? Number.NaN;
  return { heap: figure('JSHeapUsedSize'), nodes: figure('Nodes') };
}

async function refuseAll(): Promise<void> {
  const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' };
  const questions = await fetch(`${served.url}/v1/questions`, { headers });
  for (const { id } of (await questions.json()) as { id: string }[])
    await fetch(`${served.url}/v1/questions/${id}`, { method: 'POST', headers, body: '{"answer":"deny"}' });
}

/** Every view that the guide shows, in both colours, and every view at the width of a large screen. */
async function pictures(id: string, at: string): Promise<void> {
  const { workspace } = await served.client.get(id);
  const file = `${workspace}/src/login.js`;
  const folder = process.env.CONSOLE_PICTURES ?? join(served.directory, 'pictures');
  mkdirSync(folder, { recursive: true });
  const shown: Readonly<Record<string, string>> = {
    cells: '/cells',
    timeline: `/cells/${id}/timeline?${at}`,
    changes: `/cells/${id}/changes`,
    transcript: `/cells/${id}/transcript`,
    files: `/cells/${id}/files?path=${encodeURIComponent(file)}`,
    processes: `/cells/${id}/processes`,
    isolation: `/cells/${id}/isolation`,
    records: '/records',
    questions: '/questions',
    terminal: `/cells/${id}/terminal`,
  };
  const before: Readonly<Record<string, (page: Page) => Promise<void>>> = {
    changes: async (page) => {
      await page.getByRole('button', { name: 'Look at the files' }).click();
      await page.getByRole('link', { name: 'built.js' }).waitFor();
    },
    files: (page) =>
      page.getByRole('region', { name: 'File', exact: true }).getByText('login').first().waitFor(),
    processes: (page) =>
      page
        .getByRole('img', { name: /Processor over time, \d+ %/ })
        .locator('canvas')
        .waitFor(),
    terminal: async (page) => {
      await page.getByRole('button', { name: 'Open a terminal' }).click();
      await page.locator('.xterm-rows').getByText('$').first().waitFor();
      await page.keyboard.type('wc -l src/*.js\n');
      await page.locator('.xterm-rows').getByText('src/login.js').nth(0).waitFor();
    },
  };
  const height = { changes: 620, processes: 520, isolation: 520 } as Readonly<Record<string, number>>;
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await served.open('/cells', { colorScheme, viewport: { width: 940, height: 370 } });
    await page
      .getByText(/^\d+ %$/)
      .first()
      .waitFor();
    for (const [name, path] of Object.entries(shown)) {
      await goTo(page, path);
      await page.setViewportSize({ width: 940, height: height[name] ?? 370 });
      await before[name]?.(page);
      writeFileSync(join(folder, `${name}-${colorScheme}.png`), await page.screenshot());
    }
    await page.context().close();
  }
  expect(readdirSync(folder)).toHaveLength(2 * Object.keys(shown).length);
  const { page } = await served.open('/cells', { viewport: { width: 3840, height: 2160 } });
  const tabs = [
    'timeline',
    'changes',
    'transcript',
    'network',
    'browser',
    'terminal',
    'files',
    'git',
    'isolation',
  ];
  for (const path of ['/cells', '/records', '/questions', ...tabs.map((tab) => `/cells/${id}/${tab}`)]) {
    await goTo(page, path);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width, path).toBe(3840);
    if (process.env.CONSOLE_WIDE !== undefined)
      writeFileSync(join(process.env.CONSOLE_WIDE, `${path.split('/').at(-1)}.png`), await page.screenshot());
  }
  await page.context().close();
}

/** The first process of the cell that runs a command of this name. */
function initOf(word: string): number | undefined {
  const list = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' });
  const rows = list
    .trim()
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line));
  const parents = new Map(rows.map((row) => [Number(row?.[1]), Number(row?.[2])]));
  let pid = Number(rows.find((row) => row?.[3]?.startsWith(word))?.[1] ?? 0);
  for (; pid > 1; pid = parents.get(pid) ?? 0) {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    if (/^NSpid:(?:\t\d+)+\t1$/m.test(status)) return pid;
  }
  return undefined;
}

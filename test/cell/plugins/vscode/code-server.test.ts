/** The real editor, in the browser of a person, on every kind of place. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type CreateRuntimeOptions, createRuntime, type Runtime } from '../../../../src/index.js';
import { dockerEngine, images } from '../../../engines/docker.js';
import { checkout } from '../../../house/source.js';

const { host: engine } = await dockerEngine();
/** Where scripts/setup puts it; an image has it only as a volume. */
const installed = '/usr/local/lib/code-server';
/** What pops up while somebody types depends on how fast they are. */
const settings = { 'terminal.integrated.suggest.enabled': false };
const plugins = [{ name: 'vscode', options: { settings } }];
const places: Record<string, CreateRuntimeOptions> = {
  cli: { backend: 'cli', plugins },
  sandbox: { backend: 'sandbox', plugins },
  local: { backend: 'local', plugins },
  docker: {
    backend: 'docker',
    engine,
    image: images.tools,
    volumes: [`${installed}:${installed}:ro`],
    plugins: [{ name: 'vscode', options: { settings, program: `${installed}/code-server` } }],
  },
};

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  });
});
afterAll(() => browser?.close());

describe.each(Object.entries(places))('the editor on %s', (_, options) => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createRuntime({ config: false, ...options });
  });
  afterAll(() => runtime?.close());

  test('opens a file, changes it, sees it change, and has a terminal', { timeout: 180_000 }, async () => {
    await runtime.write('notes.txt', 'first\n');
    expect(await runtime.vscode.status()).toEqual({ running: false });
    const context = await browser.newContext();
    context.setDefaultTimeout(0);
    const page = await context.newPage();
    await page.goto(await runtime.vscode.url());
    await page.locator('.explorer-folders-view').getByText('notes.txt').dblclick();
    await page.locator('.view-line').getByText('first').waitFor();
    await page.locator('.editor-instance .view-lines').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('second');
    await page.locator('.tab.active.dirty').waitFor();
    await page.keyboard.press('Control+S');
    await page.locator('.tab.active:not(.dirty)').waitFor();
    expect((await runtime.read('notes.txt')).content).toBe('first\nsecond');
    expect(page.url()).not.toContain('tkn');
    await runtime.write('notes.txt', 'by the agent\n');
    await page.locator('.view-line').getByText('by the agent').waitFor();
    expect(await runtime.vscode.status()).toEqual({ running: true });
    await runtime.run('mkfifo gate');
    const heard = runtime.run('cat gate');
    await page.keyboard.press('Control+Backquote');
    await page.locator('.terminal.xterm').click();
    await page.keyboard.type('echo "in $PWD" >gate\n');
    expect((await heard).output).toBe(`in ${runtime.workspace}\n`);
    await context.close();
  });

  test('lets nobody in without the token, and no page from elsewhere', async () => {
    const url = new URL(await runtime.vscode.url());
    expect(await runtime.vscode.url()).toBe(url.href);
    const wrong = new URL(url);
    wrong.searchParams.set('tkn', 'f'.repeat(64));
    for (const address of [url.origin, wrong]) expect((await fetch(address)).status).toBe(403);
    const cookie = (await fetch(url)).headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await fetch(`${url.origin}/healthz`, { headers: { cookie } })).status).toBe(200);
    const socket = new WebSocket(url.origin.replace('http', 'ws'), {
      headers: { cookie, origin: 'http://evil.example' },
    });
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toContain('403');
  });

  test('tells nobody the token', async () => {
    const token = new URL(await runtime.vscode.url()).searchParams.get('tkn') as string;
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    for await (const event of runtime.events.since(0)) {
      expect(JSON.stringify(event)).not.toContain(token);
      if (event.kind === 'observation' && event.observation.observation === 'open_vscode') break;
    }
    const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const words = processes.flatMap((pid) =>
      ['cmdline', 'environ'].map((file) => read(`/proc/${pid}/${file}`)),
    );
    expect(words.join()).toContain('code-server');
    expect(words.join()).not.toContain(token);
  });

  test('is gone when it is stopped, and comes again', async () => {
    const before = new URL(await runtime.vscode.url());
    await runtime.vscode.stop();
    await runtime.vscode.stop();
    expect(await runtime.vscode.status()).toEqual({ running: false });
    await expect(fetch(before)).rejects.toThrow();
    expect((await fetch(await runtime.vscode.url())).status).toBe(200);
  });
});

test.each(['cli', 'sandbox'])('nothing is left of an editor on %s whose owner is killed', async (backend) => {
  const program = `
    const { createRuntime } = await import('./src/index.ts');
    const runtime = await createRuntime({ config: false, backend: '${backend}' });
    await runtime.vscode.url();
    console.log('ready');
    setInterval(() => {}, 1000);`;
  const owner = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(createInterface({ input: owner.stdout }), 'line');
  const pids = editorsBelow(owner.pid as number);
  expect(pids.length).toBeGreaterThanOrEqual(2);
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  for (const pid of pids) await once(spawn('tail', [`--pid=${pid}`, '-f', '/dev/null']), 'exit');
  expect(pids.filter((pid) => read(`/proc/${pid}/cmdline`).includes('code-server'))).toEqual([]);
});

test('a cell without an editor says how to get one', async () => {
  await using runtime = await createRuntime({ config: false, backend: 'docker', engine, image: images.bare });
  const refusal = {
    code: 'plugin-unavailable',
    message: expect.stringContaining('npm install -g code-server'),
  };
  await expect(runtime.vscode.url()).rejects.toMatchObject(refusal);
  const vscode = (await runtime.capabilities()).find(({ name }) => name === 'vscode');
  expect(vscode).toMatchObject({ state: 'unavailable', reason: expect.stringContaining('code-server') });
});

/** The processes of editors among all that descends from a process. */
function editorsBelow(root: number): number[] {
  const table = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/) as [string, string, ...string[]]);
  const below = new Set([String(root)]);
  for (let size = 0; size < below.size; ) {
    size = below.size;
    for (const [pid, parent] of table) if (below.has(parent)) below.add(pid);
  }
  return table
    .filter(([pid, , ...words]) => below.has(pid) && words.some((word) => word.includes('code-server')))
    .map(([pid]) => Number(pid));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

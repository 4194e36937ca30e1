/** Pages that attack the browser, hang it or flood it; each gets an answer, and the next page works. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Runtime } from '../../../../src/index.js';
import { bidOf, type Site, startSite } from './site.js';

describe('a hostile page in a sandbox', () => {
  let site: Site;
  let runtime: Runtime;
  beforeAll(async () => {
    site = await startSite({ backend: 'sandbox' });
    runtime = site.runtime;
  });
  afterEach(async () => {
    const next = await runtime.browse(site.at('plain.html'));
    expect(next).toMatchObject({ title: 'Plain', error: null });
  });
  afterAll(() => site?.close());

  const attack = async (button: string, timeoutMs = 5000) => {
    const page = await runtime.browse(site.at('attack.html'));
    return runtime.browseInteractive(`click('${bidOf(page, button)}')`, { timeoutMs });
  };

  test('loads nothing from private addresses', async () => {
    const page = await runtime.browse(site.at('attack.html'));
    expect(page.blocked.map(({ url }) => url).sort()).toEqual([
      'http://10.0.0.1/',
      'http://169.254.169.254/latest/meta-data/',
      'http://192.168.0.1/secret.png',
    ]);
    expect(page.text).toContain('fetch refused');
  });

  test.each([
    'file:///etc/passwd',
    'http://10.0.0.1/',
    'http://[fd00::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://0xa000001/',
    'http://169.254.169.254/',
    'chrome://settings',
    'view-source:http://localhost/',
    'javascript:alert(1)',
    'devtools://devtools/',
  ])('is not opened at %s', async (url) => {
    const page = await runtime.browse(url);
    expect(page.error).toMatch(/refused/);
    expect(page.url).not.toBe(url);
  });

  test('does not get elsewhere by redirects or by itself', async () => {
    const redirected = await runtime.browse(site.at('redirect?to=http://10.1.2.3/'));
    expect(redirected.error).toMatch(/10\.1\.2\.3 is an address of a private network/);
    const toFile = await runtime.browse(site.at('redirect?to=file:///etc/passwd'));
    expect(toFile.text).not.toContain('root:');
    const itself = await attack('Private');
    expect(itself.blocked[0]).toMatchObject({ url: 'http://10.1.2.3/' });
    expect((await attack('File')).text).not.toContain('root:');
  });

  test('opens only so many pages', async () => {
    const flooded = await attack('Flood');
    expect(flooded.pages.length).toBeLessThanOrEqual(16);
    for (let count = flooded.pages.length; count > 1; count--) await runtime.browseInteractive('tab_close()');
  });

  test('that hangs is given up', async () => {
    const page = await runtime.browse(site.at('attack.html'));
    const hung = await runtime.browseInteractive(`click('${bidOf(page, 'Hang')}')`, { timeoutMs: 1000 });
    expect(hung.error).not.toBeNull();
  });

  test('that asks without end is given up', async () => {
    const page = await runtime.browse(site.at('dialogs.html'));
    const asked = await runtime.browseInteractive(`click('${bidOf(page, 'Forever')}')`, { timeoutMs: 1000 });
    expect(asked.dialogs.length).toBe(50);
    expect(asked.error).toMatch(/without end/);
  });

  test('that grows without measure is described within bounds', async () => {
    const grown = await attack('Grow', 20_000);
    expect(grown).toMatchObject({ title: 'grown', truncated: true });
    expect(grown.tree).toMatch(/more than 100000 are not described/);
    expect(grown.screenshot).not.toBeNull();
  });

  test('that crashes is replaced, and so is a browser that ended', async () => {
    await runtime.browse(site.at('plain.html'));
    await runtime.run("pkill -9 -f -- '--type=[r]enderer'");
    const crashed = await runtime.browseInteractive('noop(0)');
    expect(crashed.error).toMatch(/crashed/);
    expect((await runtime.browse(site.at('form.html'))).title).toBe('Form');
    await runtime.run("pkill -9 -f -- '--remote-debugging-[p]ipe'");
    const ended = await runtime.browse(site.at('plain.html'));
    expect([null, 'The browser ended. The next action starts a new one.']).toContain(ended.error);
  });

  test('cannot be driven by others: the browser listens on no port', async () => {
    await runtime.browse(site.at('plain.html'));
    const { output } = await runtime.run('cat /proc/net/tcp /proc/net/tcp6 | awk \'$4 == "0A"\' | wc -l');
    expect(output.trim()).toBe('1');
  });
});

test('pages stand still between actions', async () => {
  const site = await startSite({ backend: 'sandbox' }, { parkAfterMs: 0 });
  try {
    const { runtime } = site;
    await runtime.browse(site.at('ticking.html'));
    // Two looks at the server's count with nothing between them but time that the page would have used.
    const count = async () =>
      Number((await runtime.run(`sleep 0.3; curl -s '${site.at('hits?of=/api/tick')}'`)).output);
    await count();
    const parked = await count();
    expect(await count()).toBe(parked);
    expect((await runtime.browseInteractive('noop(300)')).error).toBeNull();
    expect(await count()).toBeGreaterThan(parked);
  } finally {
    await site.close();
  }
});

test('nothing is left of a browser whose owner is killed', async () => {
  const owner = spawn(
    process.execPath,
    ['--import', 'tsx', fileURLToPath(new URL('owner.ts', import.meta.url))],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const lines = createInterface({ input: owner.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  const { pids } = JSON.parse(line) as { pids: number[] };
  expect(pids.length).toBeGreaterThan(3);
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  for (const pid of pids) {
    const waiting = spawn('tail', [`--pid=${pid}`, '-f', '/dev/null']);
    await once(waiting, 'exit');
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  }
});

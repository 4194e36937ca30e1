/** What the browser does, with pages from a server inside the cell. */
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Runtime } from '../../../../src/index.js';
import { bidOf, type Place, type Site, startSite } from './site.js';

export function browserSuite(place: Place): void {
  let site: Site;
  let runtime: Runtime;
  beforeAll(async () => {
    site = await startSite(place, { downloadBytes: 1_000_000 });
    runtime = site.runtime;
  });
  afterAll(() => site?.close());

  test('tells what a page shows', async () => {
    const page = await runtime.browse(site.at('plain.html'), { marks: true });
    expect(page).toMatchObject({
      url: site.at('plain.html'),
      title: 'Plain',
      error: null,
      loading: false,
      truncated: false,
      pages: [{ url: site.at('plain.html'), title: 'Plain', active: true }],
      lastAction: `goto("${site.at('plain.html')}")`,
    });
    expect(page.text).toBe(
      '# Welcome\nSome bold words and [a link](/form.html).\n- first\n- second\nname | size\na | 1\n![a picture]',
    );
    expect(page.tree).toContain(`[${bidOf(page, 'Welcome')}] heading 'Welcome'`);
    expect(page.tree).not.toContain('not shown');
    const link = page.elements.find(({ name }) => name === 'a link');
    expect(link).toMatchObject({ bid: bidOf(page, 'a link'), tag: 'a', role: 'link' });
    for (const picture of [page.screenshot, page.marked]) {
      expect(
        Buffer.from(picture?.data ?? '', 'base64')
          .subarray(1, 4)
          .toString(),
      ).toBe('PNG');
      expect((await runtime.read(picture?.path ?? '')).content).toBe(picture?.data);
    }
    expect(page.marked?.data).not.toBe(page.screenshot?.data);
    const small = await runtime.browse(site.at('plain.html'), { screenshot: false });
    expect(small).toMatchObject({ screenshot: null, marked: null });
  });

  test('fills in forms, by text and by steps', async () => {
    const page = await runtime.browse(site.at('form.html'));
    const [name, colour, agree, send] = ['Name', 'Colour', 'Agree', 'Send'].map((text) => bidOf(page, text));
    const filled = await runtime.browseInteractive(
      `# a comment\nfill("${name}", 'O\\'Neil')\nselect_option('${colour}', ["Green"])\nclick('${agree}')`,
    );
    expect(filled.error).toBeNull();
    expect(filled.tree).toContain("value='O\\'Neil'");
    const sent = await runtime.browseInteractive([{ do: 'click', bid: send as string }]);
    expect(sent.title).toBe('name=O%27Neil&colour=g&agree=on');
    const again = await runtime.browseInteractive(
      `clear('${name}')\nfocus('${name}')\nkeyboard_type('typed')\npress('${name}', 'Enter')`,
    );
    expect(again).toMatchObject({ title: 'name=typed&colour=g&agree=on', focused: name });
  });

  test('hovers, double-clicks, and waits for what a click asks the server', async () => {
    const page = await runtime.browse(site.at('form.html'));
    const after = await runtime.browseInteractive(
      `hover('${bidOf(page, 'Over')}')\ndblclick('${bidOf(page, 'Twice')}')\nclick('${bidOf(page, 'Ask')}')`,
    );
    expect(after.text).toContain('was over');
    expect(after.text).toContain('twice done');
    expect(after.text).toContain('from the api');
  });

  test('keeps ids while elements live, and says when one is gone', async () => {
    const page = await runtime.browse(site.at('form.html'));
    const vanish = bidOf(page, 'Vanish');
    const after = await runtime.browseInteractive(`click('${vanish}')`);
    expect(bidOf(after, 'Send')).toBe(bidOf(page, 'Send'));
    const failed = await runtime.browseInteractive(`click('${vanish}')\nsend_msg_to_user('not said')`);
    expect(failed.error).toMatch(/no element \d+ in the page/);
    expect(failed.messages).toEqual([]);
    await expect(runtime.browseInteractive('explode()')).rejects.toMatchObject({ code: 'invalid-action' });
  });

  test('reaches into frames and shadow roots, open and closed', async () => {
    const page = await runtime.browse(site.at('nested.html'));
    expect(bidOf(page, 'framed')).toMatch(/^a\d+$/);
    expect(bidOf(page, 'deepest')).toMatch(/^aa\d+$/);
    expect(bidOf(page, 'far away')).toMatch(/^b\d+$/);
    for (const [name, title] of [
      ['open shadow', 'open clicked'],
      ['closed shadow', 'closed clicked'],
      ['framed', 'in frame'],
      ['deepest', '1234'],
    ] as const) {
      const clicked = await runtime.browseInteractive(`click('${bidOf(page, name)}')`);
      expect(clicked).toMatchObject({ title, error: null });
    }
    const far = await runtime.browseInteractive(`click('${bidOf(page, 'far away')}')`);
    expect(far.tree).toContain("button 'far clicked'");
  });

  test('goes back and forward, opens, changes and closes tabs', async () => {
    await runtime.browse(site.at('plain.html'));
    const tabs = await runtime.browse(site.at('tabs.html'));
    expect((await runtime.browseInteractive('go_back()')).title).toBe('Plain');
    expect((await runtime.browseInteractive('go_forward()')).title).toBe('Tabs');
    const link = bidOf(await runtime.browseInteractive('noop(0)'), 'open another');
    expect(tabs.pages).toHaveLength(1);
    const popup = await runtime.browseInteractive(`click('${link}')`);
    expect(popup).toMatchObject({ title: 'Plain', pages: [{ title: 'Tabs' }, { active: true }] });
    const blank = await runtime.browseInteractive('new_tab()');
    expect(blank).toMatchObject({ url: 'about:blank', pages: [{}, {}, { active: true }] });
    expect((await runtime.browseInteractive('tab_focus(0)')).title).toBe('Tabs');
    const closed = await runtime.browseInteractive('tab_focus(2)\ntab_close()\ntab_close()');
    expect(closed).toMatchObject({ title: 'Tabs', pages: [{ active: true }] });
    expect((await runtime.browseInteractive('tab_focus(7)')).error).toMatch(/no page 7/);
  });

  test('uploads from the cell and downloads into it', async () => {
    await runtime.write('letter.txt', 'Dear reader');
    await runtime.run('rm -rf .browser/downloads/*');
    const page = await runtime.browse(site.at('files.html'));
    const choose = bidOf(page, 'Choose');
    const sent = await runtime.browseInteractive(
      `upload_file('${choose}', 'letter.txt')\nclick('${bidOf(page, 'Upload')}')`,
    );
    expect(sent).toMatchObject({ title: 'received', error: null });
    expect(sent.text).toContain('Dear reader');
    const again = await runtime.browse(site.at('files.html'));
    const missing = await runtime.browseInteractive(
      `upload_file('${bidOf(again, 'Choose')}', 'missing.txt')`,
    );
    expect(missing.error).toMatch(/missing\.txt/);

    const notes = await runtime.browseInteractive(`click('${bidOf(again, 'fetch notes')}')`);
    expect(notes.downloads).toMatchObject([{ state: 'completed', sizeBytes: 10 }]);
    expect((await runtime.read(notes.downloads[0]?.path ?? '')).content).toBe('downloaded');
    expect(notes.downloads[0]?.path).toMatch(/\/\.browser\/downloads\/notes\.txt$/);
    const twice = await runtime.browse(site.at('download?name=notes.txt'));
    expect(twice.error).toBeNull();
    expect(twice.downloads[0]?.path).toMatch(/\/notes \(1\)\.txt$/);

    const last = await runtime.browse(site.at('files.html'));
    const outside = await runtime.browseInteractive(`click('${bidOf(last, 'fetch outside')}')`);
    expect(outside.downloads[0]?.path).toMatch(/\/\.browser\/downloads\/[^/]+$/);
    let { downloads } = await runtime.browseInteractive(`click('${bidOf(last, 'fetch large')}')`);
    // On a busy machine it begins after the answer to the click, and the next answer reports it.
    while (downloads.length === 0) ({ downloads } = await runtime.browseInteractive('noop(100)'));
    expect(downloads).toMatchObject([{ state: 'canceled', path: null }]);
    expect((await runtime.run('git init -q . && git status --short .browser')).output).toBe('');
  });

  test('answers the boxes that a page opens', async () => {
    const page = await runtime.browse(site.at('dialogs.html'));
    const alerted = await runtime.browseInteractive(`click('${bidOf(page, 'Alert')}')`);
    expect(alerted).toMatchObject({
      title: 'alerted',
      dialogs: [{ type: 'alert', message: 'look', accepted: true }],
    });
    const confirm = `click('${bidOf(page, 'Confirm')}')`;
    expect((await runtime.browseInteractive(confirm)).title).toBe('confirm false');
    expect((await runtime.browseInteractive(`answer_dialog(True)\n${confirm}`)).title).toBe('confirm true');
    const prompted = await runtime.browseInteractive(
      `answer_dialog(text='me')\nclick('${bidOf(page, 'Prompt')}')`,
    );
    expect(prompted.title).toBe('prompt me');
  });

  test('uses the pointer where there are no elements', async () => {
    const page = await runtime.browse(site.at('drawing.html'));
    expect((await runtime.browseInteractive('mouse_click(120, 45)')).title).toBe('canvas 120 45');
    const dropped = await runtime.browseInteractive(
      `drag_and_drop('${bidOf(page, 'drag me')}', '${bidOf(page, 'here')}')`,
    );
    expect(dropped).toMatchObject({ title: 'dropped', error: null });
    expect((await runtime.browseInteractive('scroll(0, 400)\nnoop(100)')).title).toBe('scrolled 400');
  });

  test('shows a page that does not end loading, and gives up one that never begins', async () => {
    const endless = await runtime.browse(site.at('endless'), { timeoutMs: 2000 });
    expect(endless).toMatchObject({ title: 'endless', loading: true, error: null });
    expect(endless.text).toContain('begun');
    const never = await runtime.browse(site.at('never'), { timeoutMs: 1500 });
    expect(never.error).toMatch(/did not answer within 1500 ms/);
    expect((await runtime.browse(site.at('plain.html'))).title).toBe('Plain');
  });

  test('shows files of the cell', async () => {
    const blank = async () => (await runtime.browse('about:blank')).screenshot?.data ?? '';
    const { screenshot } = await runtime.browse(site.at('plain.html'));
    const picture = await runtime.browse(screenshot?.path ?? '');
    expect(picture.title).toContain('1280×720');
    const document = await runtime.browse('letter.pdf');
    expect(document).toMatchObject({ error: null, loading: false });
    // Only the picture shows what the viewer draws; an empty page is much smaller.
    expect(document.screenshot?.data.length).toBeGreaterThan((await blank()).length + 8000);
    expect((await runtime.browse('plain.html')).text).toContain('# Welcome');
    expect((await runtime.browse('nothing.html')).error).toMatch(/nothing\.html/);
  });

  test('is open to the tools of its owner, and to nobody else', async () => {
    await runtime.browse(site.at('plain.html'));
    const url = await runtime.browser.cdpUrl();
    const browser = await chromium.connectOverCDP(url);
    const page = browser.contexts()[0]?.pages()[0];
    expect(await page?.title()).toBe('Plain');
    await page?.evaluate("document.title = 'from outside'");
    expect((await runtime.browseInteractive('noop(0)')).title).toBe('from outside');
    await browser.close();
    expect((await runtime.browse(site.at('plain.html'))).title).toBe('Plain');

    const refusal = (address: string, headers: Record<string, string> = {}) =>
      new Promise((resolve) => {
        const socket = new WebSocket(address, { headers });
        socket.on('error', ({ message }) => resolve(message));
        socket.on('open', () => resolve('open'));
      });
    expect(await refusal(url.replace(/.$/, '-'))).toMatch(/403/);
    const token = new URL(url).pathname.slice(1);
    for await (const event of runtime.events.since(0)) {
      expect(JSON.stringify(event)).not.toContain(token);
      if (event.kind === 'observation' && event.observation.observation === 'open_cdp') break;
    }
    expect(await refusal(url, { origin: 'http://localhost' })).toMatch(/403/);
    expect(await refusal(url, { host: 'example.com' })).toMatch(/403/);
  });

  test('can be called off', async () => {
    const abort = new AbortController();
    const browsing = runtime.browse(site.at('never'), { signal: abort.signal });
    abort.abort();
    await expect(browsing).rejects.toMatchObject({ code: 'cancelled' });
    expect((await runtime.browse(site.at('plain.html'))).title).toBe('Plain');
  });
}

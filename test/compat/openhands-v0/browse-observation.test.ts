/** Pages as clients of OpenHands V0 know them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOpenHandsApp } from '../../../src/compat/openhands-v0/openhands-v0-app.js';
import { machineExecutor, startServer } from './server.js';

const server = startServer();
const pages = createServer((request, response) => {
  if (request.url === '/file') response.setHeader('content-disposition', 'attachment; filename=report.txt');
  response.setHeader('content-type', 'text/html');
  response.end('<title>Shop</title><h1>Shop</h1><label>Name <input></label><a href="/file">get it</a>');
});
let address = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  pages.close();
  await server[Symbol.asyncDispose]();
});

interface Node {
  nodeId: string;
  name: { value: string };
  childIds: string[];
  browsergym_id?: string;
}

const picture = expect.stringMatching(/^data:image\/png;base64,iVBOR/);

describe('browse', () => {
  test('answers with the text of the page and all that clients expect', async () => {
    const page = await server.act('browse', { url: address, thought: '', return_axtree: true });
    expect(page).toMatchObject({
      observation: 'browse',
      extras: {
        url: address,
        trigger_by_action: 'browse',
        screenshot: picture,
        set_of_marks: picture,
        screenshot_path: expect.stringMatching(/\.png$/),
        error: false,
        goal_image_urls: [],
        open_pages_urls: [address],
        active_page_index: 0,
        dom_object: {},
        axtree_object: { nodes: expect.arrayContaining([]) },
        last_browser_action: `goto("${address}")`,
        last_browser_action_error: '',
        focused_element_bid: '',
        filter_visible_only: false,
      },
    });
    expect(page.content).toContain(address);
    expect(page.content).toContain('# Shop');
    expect(Object.values(page.extras.extra_element_properties as object)).toHaveLength(3);
    const { nodes } = page.extras.axtree_object as { nodes: Node[] };
    const [root] = nodes;
    expect(root).toMatchObject({ role: { value: 'RootWebArea' }, name: { value: 'Shop' } });
    const link = nodes.find(({ name }) => name.value === 'get it');
    expect(link).toMatchObject({ role: { value: 'link' }, browsergym_id: expect.any(String) });
    expect(page.extras.extra_element_properties).toHaveProperty([link?.browsergym_id ?? '']);
    // Every node but the first belongs to one other.
    expect(nodes.flatMap(({ childIds }) => childIds).sort()).toEqual(
      nodes
        .slice(1)
        .map(({ nodeId }) => nodeId)
        .sort(),
    );
  });

  test('gives the tree as an object only to who asks', async () => {
    const page = await server.act('browse', { url: address });
    expect(page.extras).toMatchObject({ axtree_object: {}, extra_element_properties: {} });
    expect(page.extras.axtree_object).toEqual({});
  });

  test('interactive actions answer with the tree, failed ones say why', async () => {
    const { content } = await server.act('browse_interactive', { browser_actions: 'noop(0)' });
    const bid = /\[(\d+)\] textbox 'Name'/.exec(content)?.[1];
    const filled = await server.act('browse_interactive', {
      browser_actions: `fill("${bid}", "workcell")`,
      browsergym_send_msg_to_user: '',
    });
    expect(filled.content).toContain("value='workcell'");
    expect(filled.extras).toMatchObject({ error: false, focused_element_bid: bid });
    const failed = await server.act('browse_interactive', { browser_actions: 'click("99999")' });
    expect(failed.extras).toMatchObject({
      error: true,
      last_browser_action: 'click("99999")',
      last_browser_action_error: expect.stringContaining('99999'),
    });
    expect(await server.act('browse_interactive', { browser_actions: 'what' })).toMatchObject({
      observation: 'error',
    });
  });

  test('a download is an observation of its own', async () => {
    const { content } = await server.act('browse_interactive', { browser_actions: 'noop(0)' });
    const link = /\[(\d+)\] link 'get it'/.exec(content)?.[1];
    const answer = await server.act('browse_interactive', { browser_actions: `click("${link}")` });
    expect(answer).toMatchObject({
      observation: 'download',
      extras: { file_path: server.path('.browser/downloads/report.txt') },
    });
  });

  test('a server without a browser says so', async () => {
    const executor = machineExecutor(server.directory);
    const app = createOpenHandsApp(executor, { workingDirectory: server.directory });
    const payload = { action: { action: 'browse', args: { url: address } } };
    const response = await app.inject({ method: 'POST', url: '/execute_action', payload });
    expect(response.json()).toMatchObject({ observation: 'error', extras: { error_id: '' } });
    await app.close();
    await executor.close();
  });
});

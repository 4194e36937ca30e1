/** Does each step in a page. */
import type { ElementHandle } from 'playwright-core';
import { reasonOf } from './bounds.js';
import type { Running } from './running.js';
import type { Step, StepName } from './steps.js';
import type { Tab } from './tab.js';

/** How long an element may take to become usable. */
const elementMs = 5000;

interface Place {
  readonly running: Running;
  readonly tab: Tab;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

type Performer<Name extends StepName> = (step: Step<Name>, place: Place) => Promise<unknown>;

const performers: { readonly [Name in StepName]: Performer<Name> } = {
  goto: ({ url }, { running, tab, timeoutMs }) => goTo(running, tab, url, timeoutMs),
  go_back: (_step, place) => travel(place, 'goBack'),
  go_forward: (_step, place) => travel(place, 'goForward'),
  new_tab: (_step, { running }) => running.openTab(),
  tab_close: (_step, { running, tab }) => running.closeTab(tab),
  tab_focus: ({ index }, { running }) => running.focusTab(index),
  click: ({ bid, button, modifiers }, { tab }) =>
    on(tab, bid, (element) => element.click({ button, modifiers, timeout: elementMs })),
  dblclick: ({ bid, button, modifiers }, { tab }) =>
    on(tab, bid, (element) => element.dblclick({ button, modifiers, timeout: elementMs })),
  hover: ({ bid }, { tab }) => on(tab, bid, (element) => element.hover({ timeout: elementMs })),
  fill: ({ bid, value }, { tab }) => on(tab, bid, (element) => element.fill(value, { timeout: elementMs })),
  select_option: ({ bid, options }, { tab }) =>
    on(tab, bid, (element) => element.selectOption(options, { timeout: elementMs })),
  press: ({ bid, key_comb }, { tab }) =>
    on(tab, bid, (element) => element.press(key_comb, { timeout: elementMs })),
  focus: ({ bid }, { tab }) => on(tab, bid, (element) => element.focus()),
  clear: ({ bid }, { tab }) => on(tab, bid, (element) => element.fill('', { timeout: elementMs })),
  drag_and_drop: async ({ from_bid, to_bid }, { tab }) => {
    const { mouse } = tab.page;
    await on(tab, from_bid, (element) => element.hover({ timeout: elementMs }));
    await mouse.down();
    try {
      // A page that follows the pointer wants to see it move over the target, not only arrive.
      await on(tab, to_bid, async (element) => {
        await element.hover({ timeout: elementMs, force: true });
        await element.hover({ timeout: elementMs, force: true, position: { x: 1, y: 1 } });
        await element.hover({ timeout: elementMs, force: true });
      });
    } finally {
      await mouse.up();
    }
  },
  upload_file: async ({ bid, file }, { running, tab }) => {
    const files = await Promise.all([file].flat().map((path) => running.fileInside(path)));
    const backendNodeId = tab.elements.get(bid);
    if (backendNodeId === undefined) await tab.find(bid);
    else await tab.cdp.send('DOM.setFileInputFiles', { files, backendNodeId });
  },
  scroll: ({ delta_x, delta_y }, { tab }) => tab.page.mouse.wheel(delta_x, delta_y),
  mouse_move: ({ x, y }, { tab }) => tab.page.mouse.move(x, y),
  mouse_click: ({ x, y, button }, { tab }) => tab.page.mouse.click(x, y, { button }),
  mouse_dblclick: ({ x, y, button }, { tab }) => tab.page.mouse.dblclick(x, y, { button }),
  mouse_drag_and_drop: async ({ from_x, from_y, to_x, to_y }, { tab }) => {
    const { mouse } = tab.page;
    await mouse.move(from_x, from_y);
    await mouse.down();
    await mouse.move(to_x, to_y, { steps: 5 });
    await mouse.up();
  },
  keyboard_press: ({ key }, { tab }) => tab.page.keyboard.press(key),
  keyboard_type: ({ text }, { tab }) => tab.page.keyboard.type(text),
  answer_dialog: async ({ accept, text }, { running }) => running.answerDialog(accept, text),
  noop: ({ wait_ms }, { signal }) => pause(wait_ms, signal),
  send_msg_to_user: async ({ text }, { running }) =>
    running.events.add('messages', { kind: 'message', text }),
  report_infeasible: async ({ reason }, { running }) =>
    running.events.add('messages', { kind: 'infeasible', text: reason }),
};

export async function perform(step: Step, place: Place): Promise<void> {
  const performer = performers[step.do] as Performer<StepName>;
  await performer(step, place);
}

/**
 * Opens an address in a page. A page that begins to load and does not finish is no failure: the observation shows it
 * as it is.
 */
async function goTo(running: Running, tab: Tab, given: string, timeoutMs: number): Promise<void> {
  const url = await running.addressOf(given);
  const refusal = await running.addresses.refusal(url);
  if (refusal !== undefined) throw new Error(refusal);
  const before = running.events.blocked.length;
  try {
    await tab.page.goto(url, { timeout: timeoutMs, waitUntil: 'commit' });
  } catch (error) {
    if (tab.broken !== undefined) throw new Error(tab.broken);
    const reason = reasonOf(error);
    // The browser saves this one instead of showing it, so it has arrived all the same.
    if (/Download is starting/.test(reason)) return;
    if (/Timeout \d+ms exceeded/.test(reason)) {
      await tab.stopLoading();
      throw new Error(`${given.slice(0, 200)} did not answer within ${timeoutMs} ms.`);
    }
    throw new Error(reason);
  }
  const blocked = running.events.blocked.slice(before).find((entry) => entry.url === tab.page.url());
  if (blocked !== undefined) throw new Error(blocked.reason);
}

async function travel({ tab, timeoutMs }: Place, direction: 'goBack' | 'goForward'): Promise<void> {
  const before = tab.page.url();
  const response = await tab.page[direction]({ timeout: timeoutMs, waitUntil: 'commit' });
  if (response === null && tab.page.url() === before)
    throw new Error('There is no page in that direction of the history.');
}

async function on<Result>(
  tab: Tab,
  bid: string,
  work: (element: ElementHandle) => Promise<Result>,
): Promise<void> {
  const element = await tab.find(bid);
  try {
    await work(element);
  } finally {
    void element.dispose().catch(() => {});
  }
}

/** The wait that the step names. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

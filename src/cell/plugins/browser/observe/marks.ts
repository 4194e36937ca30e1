/**
 * Draws ids onto a picture of a page. The browser itself does it, in a world that shares nothing with the page's
 * scripts.
 */

import { programText } from '../../../../base/program-text.js';
import { within } from '../bounds.js';
import type { PageObservation } from '../browser-actions.js';
import type { Tab } from '../tab.js';

export async function drawMarks(
  tab: Tab,
  picture: string,
  elements: PageObservation['elements'],
  { ms, signal }: { ms: number; signal: AbortSignal | undefined },
): Promise<string> {
  const marks = elements.map(({ bid, box }) => ({ bid, box }));
  const draw = programText('draw-marks.cjs', import.meta.url);
  const expression = `${draw}\ndrawMarks(${JSON.stringify(picture)}, ${JSON.stringify(marks)})`;
  const drawn = await within(evaluateAside(tab, expression), { ms, signal, what: 'Drawing the marks' });
  if (typeof drawn !== 'string' || !/^[\w+/]+=*$/.test(drawn))
    throw new Error('The browser gave no usable picture.');
  return drawn;
}

async function evaluateAside({ cdp, targetId }: Tab, expression: string): Promise<unknown> {
  // The main frame of a page has the same id as the page.
  const { executionContextId } = await cdp.send('Page.createIsolatedWorld', { frameId: targetId });
  const { result } = await cdp.send('Runtime.evaluate', {
    expression,
    contextId: executionContextId,
    awaitPromise: true,
    returnByValue: true,
  });
  return result.value;
}

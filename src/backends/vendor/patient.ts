/** A vendor's sandbox whose calls end: by a limit of time, or when the start is cancelled. */
import { setTimeout as sleep } from 'node:timers/promises';
import { untilAborted } from '../../base/until-aborted.js';
import { WorkcellError } from '../../protocol/index.js';
import type { VendorSandbox } from './vendor-sandbox.js';

/** A command has two minutes. */
const callMs = 150_000;
/** A vendor may build an image first. */
const createMs = 900_000;
/** Ending a sandbox twice harms nobody, and one that stays costs money. */
const endAgainMs = [200, 1000];

export interface NewSandbox {
  create(): Promise<VendorSandbox>;
  /**
   * Ends what a creation left that failed or was cancelled, where the client can fail after the vendor made a sandbox.
   * We call it again when it fails, and when a cancelled creation fails later.
   */
  endLeft?(): Promise<void>;
}

/** Waits for the vendor's new sandbox. One that comes too late is ended. */
export async function awaitSandbox(
  { create, endLeft }: NewSandbox,
  signal: AbortSignal | undefined,
): Promise<VendorSandbox> {
  let isSettled = false;
  const work = create().finally(() => {
    isSettled = true;
  });
  const endAllLeft = () => endSurely('The end of a failed start', async () => endLeft?.());
  try {
    return await inTime('The start of a sandbox', createMs, work, signal);
  } catch (error) {
    const settled = work.then((late) => limited(late).end(), endAllLeft);
    settled.catch(() => {});
    // One that still runs may have made a sandbox already, and may never settle.
    const ended = isSettled ? settled : endAllLeft();
    // Who cancels does not wait for it.
    await inTime('The end of a failed start', callMs, ended, signal).catch(() => {});
    throw error;
  }
}

/** `signal`: cancels every call but the end. */
export function limited(sandbox: VendorSandbox, signal?: AbortSignal): VendorSandbox {
  const { id, port, ready, leave, extend, pause, resume } = sandbox;
  const limit = <Result>(what: string, work: Promise<Result>, limitMs = callMs) =>
    inTime(`${what} the sandbox ${id}`, limitMs, work, signal);
  return {
    id,
    ...(port !== undefined && { port }),
    ...(ready !== undefined && { ready: () => limit('The start of', ready(), createMs) }),
    run: (command) => limit('A command in', sandbox.run(command)),
    write: (path, content) => limit('A file for', sandbox.write(path, content)),
    address: (wanted) => limit('The address of', sandbox.address(wanted)),
    end: () => endSurely(`The end of the sandbox ${id}`, () => sandbox.end()),
    ...(leave !== undefined && { leave }),
    ...(extend !== undefined && { extend: () => limit('A sign of life to', extend()) }),
    ...(pause !== undefined && { pause: () => limit('The pause of', pause()) }),
    ...(resume !== undefined && { resume: () => limit('The return of', resume()) }),
  };
}

async function endSurely(what: string, end: () => Promise<void>): Promise<void> {
  for (const again of endAgainMs) {
    const isEnded = await inTime(what, callMs, end()).then(
      () => true,
      () => false,
    );
    if (isEnded) return;
    await sleep(again);
  }
  await inTime(what, callMs, end());
}

async function inTime<Result>(
  what: string,
  limitMs: number,
  work: Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const message = `${what} took more than ${limitMs / 1000} seconds.`;
    timer = setTimeout(() => reject(new WorkcellError('timed-out', message)), limitMs);
  });
  try {
    return await untilAborted(Promise.race([work, late]), signal, what);
  } finally {
    clearTimeout(timer);
  }
}

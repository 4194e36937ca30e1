/**
 * Failures of the driver that no caller can catch. The driver handles messages in its own promises and trusts the
 * browser, so a message that a browser never sends leaves a rejection that would end this process. Each message gets
 * its own turn of the event loop, so a failure in that turn comes from that message.
 */

type Blamed = (reason: string) => void;

let blamed: Blamed | undefined;
let users = 0;

/** Sets who hears of failures of the driver from now on. */
export function blame(whom: Blamed): void {
  blamed = whom;
}

/** Catches failures of the driver until you call the function that it returns. */
export function catchDriverFaults(): () => void {
  if (++users === 1) process.on('unhandledRejection', onRejection);
  let done = false;
  return () => {
    if (done) return;
    done = true;
    if (--users > 0) return;
    process.off('unhandledRejection', onRejection);
    blamed = undefined;
  };
}

function onRejection(reason: unknown): void {
  if (blamed !== undefined && isOfDriver(reason)) blamed(reason.message);
  // Behave as if this listener did not exist: others hear of it, and without any it ends the process.
  else if (process.listenerCount('unhandledRejection') === 1) throw reason;
}

/** Its failures come from its own files, or carry its log. */
function isOfDriver(reason: unknown): reason is Error {
  if (!(reason instanceof Error)) return false;
  return /[\\/]playwright-core[\\/]/.test(reason.stack ?? '') || 'log' in reason;
}

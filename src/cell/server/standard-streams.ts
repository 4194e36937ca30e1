/** Separates what other code prints in this process from what the process says itself. */

/**
 * From here on `process.stdout`, and `console.log` with it, lead to standard error, which holds the log. Plugins by
 * other authors print: their text must neither mix with the handshake nor end the process once nobody reads standard
 * output.
 */
export function printToLog(): void {
  const { get } = Object.getOwnPropertyDescriptor(process, 'stderr') as { get: () => NodeJS.WriteStream };
  let log: NodeJS.WriteStream | undefined;
  // Opened on first use, because the stream takes a while to load.
  const open = () => {
    // A log without a reader is no reason to end.
    log ??= get.call(process).on('error', () => {});
    return log;
  };
  for (const name of ['stdout', 'stderr'])
    Object.defineProperty(process, name, { configurable: true, enumerable: true, get: open });
}

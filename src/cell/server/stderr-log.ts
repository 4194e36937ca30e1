import type { Log } from './executor-server-options.js';

/** One line of standard error for each message, for the starter of the server. */
export const logToStandardError: Log = (level, message, fields) =>
  void process.stderr.write(`${level}: ${message} ${JSON.stringify(fields ?? {})}\n`);

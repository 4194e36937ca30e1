/** The log of the command line, on standard error: JSON lines, or readable ones on a terminal. */
import { createRequire } from 'node:module';
import type * as pino from 'pino';
import { type LogLevel, logLevels } from '../protocol/config.js';
import { plainText } from './sanitize.js';

const require = createRequire(import.meta.url);

type Level = Exclude<LogLevel, 'silent'>;

export type Log = (level: Level, message: string, fields?: Record<string, unknown>) => void;

/** The library behind it loads with the first line that is written. */
export function createLog(level: LogLevel): Log {
  let logger: pino.Logger | undefined;
  return (at, message, fields = {}) => {
    if (logLevels.indexOf(at) > logLevels.indexOf(level)) return;
    logger ??= openLogger(level);
    logger[at](fields, message);
  };
}

function openLogger(level: LogLevel): pino.Logger {
  const { pino } = require('pino') as typeof import('pino');
  const options = { level, base: null, formatters: { level: (label: string) => ({ level: label }) } };
  if (process.stderr.isTTY) return pino(options, { write: (line) => process.stderr.write(readable(line)) });
  return pino(options, pino.destination({ dest: 2, sync: true }));
}

function readable(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const at = new Date(Number(time)).toISOString().slice(11, 23);
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  return plainText(`${at} ${String(level).padEnd(5)} ${String(msg)}${rest.join('')}`).concat('\n');
}

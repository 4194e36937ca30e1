/** The log of the command line, on standard error: JSON lines, or readable ones on a terminal. */
import { type LogLevel, logLevels } from '../protocol/config.js';
import type { Logger } from '../runtime/runtime-log.js';
import { plainText } from './sanitize.js';

type Level = Exclude<LogLevel, 'silent'>;

export type Log = (level: Level, message: string, fields?: Record<string, unknown>) => void;

export function createLog(level: LogLevel): Log {
  const write = process.stderr.isTTY ? readable : jsonLine;
  return (at, message, fields = {}) => {
    if (logLevels.indexOf(at) > logLevels.indexOf(level)) return;
    process.stderr.write(write(at, message, fields));
  };
}

/** The same log for a runtime. */
export function loggerOf(log: Log): Logger {
  const write = (level: Level) => (fields: object, message: string) => log(level, message, { ...fields });
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

function jsonLine(level: Level, msg: string, fields: Record<string, unknown>): string {
  return `${JSON.stringify({ level, time: Date.now(), ...fields, msg })}\n`;
}

function readable(level: Level, message: string, fields: Record<string, unknown>): string {
  const at = new Date().toISOString().slice(11, 23);
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  return plainText(`${at} ${level.padEnd(5)} ${message}${rest.join('')}`).concat('\n');
}

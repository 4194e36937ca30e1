/** The log of a runtime: one line for each action, and at `debug` what led to it. It carries no contents and no secrets. */
import type { Decision, ErrorBody, StatusUpdate } from '../protocol/index.js';

/** What a runtime logs to. Loggers of pino fit, and so does `console`. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

type Level = keyof Logger;

/**
 * The logger, with secrets hidden in everything that it gets. If the logger throws, reports that and fails no action.
 */
export function safeLogger(
  logger: Logger | undefined,
  mask: { value<Value>(value: Value): Value } | undefined,
): Logger | undefined {
  if (logger === undefined) return undefined;
  const write = (level: Level) => (fields: object, message: string) => {
    try {
      if (mask === undefined) logger[level](fields, message);
      else logger[level](mask.value(fields), mask.value(message));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      process.emitWarning(`The logger failed: ${reason}`, 'WorkcellWarning');
    }
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** Called once for each action, at its end. `begun`: the value of `performance.now()` when it came. */
export function logAction(
  logger: Logger,
  cell: string,
  action: string,
  begun: number,
  end: { readonly observation?: unknown; readonly error?: ErrorBody },
): void {
  const outcome = end.error?.code ?? 'ok';
  const durationMs = Math.round((performance.now() - begun) * 1000) / 1000;
  logger.info({ cell, action, outcome, durationMs, ...resultOf(end.observation) }, `${action} ${outcome}`);
  if (end.error !== undefined) logger.debug({ cell, action, reason: end.error.message }, `${action} failed`);
}

/** How a command or code ended; this reveals nothing of what it did. */
function resultOf(observation: unknown): object {
  const { exitCode, endedBy, session } = (observation ?? {}) as Record<string, unknown>;
  return {
    ...(typeof exitCode === 'number' && { exitCode }),
    ...(typeof endedBy === 'string' && { endedBy }),
    ...(typeof session === 'string' && { session }),
  };
}

export function logDecision(logger: Logger, cell: string, action: string, decision: Decision): void {
  const { outcome, by, risk, reasons, verdicts } = decision;
  const judges = verdicts.map(({ analyzer, risk: found }) => `${analyzer}: ${found}`);
  logger.debug({ cell, action, outcome, by, risk, reasons, judges }, `${action} judged: ${outcome}`);
}

export function logStatus(logger: Logger, { status, level, message }: StatusUpdate): void {
  // The caller gets the error of a failed start.
  logger[status === 'ERROR' ? 'debug' : level]({ status }, message);
}

import { WorkcellError } from '../../../protocol/index.js';
import type { Handler } from '../handler-context.js';

export const run: Handler<'run'> = (action, { shells }, context) => shells.run(action, context);

export const readOutput: Handler<'read_output'> = (
  { outputId, stream, from, limitBytes, encoding },
  { outputs },
) => {
  const output = outputs.get(outputId);
  const name = stream ?? (output.streams.terminal === undefined ? 'stdout' : 'terminal');
  const spool = output.streams[name];
  if (spool === undefined) {
    throw new WorkcellError(
      'output-not-found',
      `Output "${outputId}" has no stream "${name}"; it has ${Object.keys(output.streams).join(' and ')}.`,
      { details: { outputId, stream: name } },
    );
  }
  const { data, from: start } = spool.read(from, limitBytes);
  const next = start + data.length;
  return {
    observation: 'read_output',
    outputId,
    data: data.toString(encoding),
    encoding,
    from: start,
    next,
    totalBytes: spool.totalBytes,
    complete: output.complete && next >= spool.totalBytes,
  };
};

export const listSessions: Handler<'list_sessions'> = (_action, { shells }) => ({
  observation: 'list_sessions',
  sessions: shells.list(),
});

export const closeSession: Handler<'close_session'> = async ({ session }, { shells }) => {
  await shells.closeSession(session);
  return { observation: 'close_session', session };
};

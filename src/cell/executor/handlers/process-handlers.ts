import { WorkcellError } from '../../../protocol/index.js';
import type { Handler } from '../handler-context.js';

export const startProcess: Handler<'start_process'> = async (action, { processes }) => {
  const { argv, command, stdin, encoding } = action;
  if ((argv === undefined) === (command === undefined)) {
    throw new WorkcellError(
      'invalid-action',
      `"start_process" needs either argv, for a program, or command, for shell source; it got ${argv === undefined ? 'neither' : 'both'}.`,
    );
  }
  const started = await processes.start({
    ...action,
    argv: argv ?? ['bash', '-c', command ?? ''],
    stdin: stdin === undefined ? undefined : Buffer.from(stdin, encoding),
  });
  return { observation: 'start_process', ...started };
};

export const writeProcess: Handler<'write_process'> = async (
  { id, data, encoding, end },
  { processes },
  { signal },
) => {
  await processes.write(id, Buffer.from(data, encoding), { end: end ?? false, signal });
  return { observation: 'write_process', id };
};

export const listProcesses: Handler<'list_processes'> = (_action, { processes }) => ({
  observation: 'list_processes',
  processes: processes.list(),
});

export const getProcess: Handler<'get_process'> = ({ id }, { processes }) => ({
  observation: 'get_process',
  ...processes.get(id),
});

export const signalProcess: Handler<'signal_process'> = async ({ id, signal }, { processes }) => {
  await processes.signal(id, signal);
  return { observation: 'signal_process', id, signal };
};

export const waitProcess: Handler<'wait_process'> = async ({ id, ...options }, { processes }, context) => ({
  observation: 'wait_process',
  ...(await processes.wait(id, options, context)),
});

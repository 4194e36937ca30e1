import {
  type ActionInput,
  type ActionName,
  type ExecuteContext,
  type Executor,
  type Observation,
  parseAction,
} from '../../protocol/index.js';

/** Checks an action, fills in its defaults and carries it out. */
export async function perform<Name extends ActionName>(
  executor: Executor,
  action: ActionInput<Name> & { action: Name },
  context?: ExecuteContext,
): Promise<Observation<Name>> {
  return (await executor.execute(parseAction(action, executor.actions), context)) as Observation<Name>;
}

/** An executor for one request, whose client says how risky it finds it. */
export function stating(executor: Executor, statedRisk: ExecuteContext['statedRisk']): Executor {
  if (statedRisk === undefined) return executor;
  return {
    actions: executor.actions,
    execute: (action, context) => executor.execute(action, { ...context, statedRisk }),
    upload: (path, content, options) => executor.upload(path, content, options),
    download: (path, options) => executor.download(path, options),
    openTerminal: (options) => executor.openTerminal(options),
    close: () => executor.close(),
  };
}

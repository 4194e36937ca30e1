import {
  type ActionInput,
  type ActionName,
  type Executor,
  type Observation,
  parseAction,
} from '../../protocol/index.js';

/** Checks an action, fills in its defaults and has it carried out. */
export async function perform<Name extends ActionName>(
  executor: Executor,
  action: ActionInput<Name> & { action: Name },
): Promise<Observation<Name>> {
  return (await executor.execute(parseAction(action, executor.actions))) as Observation<Name>;
}

/** Tools that a Python module in the cell describes itself. We check the description like any other tool. */
import type { ActionInput, Observation } from '../../../protocol/index.js';
import { WorkcellError } from '../../../protocol/index.js';
import { type FunctionTool, tool } from '../function-tool.js';
import { type Origin, setOrigin } from '../origin.js';
import type { ToldInside } from '../tools-from.js';
import { refuseHere } from './python-tools.js';

type Install = (action: ActionInput<'install_tools'>) => Promise<Observation<'install_tools'>>;

export async function toldTools({ shown, module }: ToldInside, install: Install): Promise<FunctionTool[]> {
  const { described } = await install({ action: 'install_tools', ...module }).catch((cause: unknown) => {
    if (!WorkcellError.isInstance(cause)) throw cause;
    const message = `The tools of ${JSON.stringify(shown)} are not to be had: ${cause.message}`;
    throw new WorkcellError(cause.code, message, { details: { ...cause.details, entrypoint: shown }, cause });
  });
  const origin: Origin = { source: async () => module };
  return described.map(({ name, description, parameters }) => {
    const made = tool({ name, description, parameters, execute: () => refuseHere(name) }) as FunctionTool;
    setOrigin(made, origin);
    return made;
  });
}

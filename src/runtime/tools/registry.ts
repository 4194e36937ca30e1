/** The tools of a runtime: the agent sees no difference, but they run in the cell. */
import {
  type ActionInput,
  type ExecuteContext,
  type Observation,
  type Progress,
  WorkcellError,
} from '../../protocol/index.js';
import { argumentCheck, type FunctionTool, resultCheck, type ToolContext } from './function-tool.js';
import { type Shipment, type ShipOptions, shipmentsOf } from './shipment.js';

export interface AddOptions extends ShipOptions {
  /** Shows what the tools print: on this process' own output, or to a listener. Default: only captures it. */
  readonly redirectStdout?:
    | boolean
    | ((printed: { stream: 'stdout' | 'stderr'; text: string }) => void)
    | undefined;
}

/** The way to the executor. */
export interface ToolCalls {
  install(action: ActionInput<'install_tools'>): Promise<Observation<'install_tools'>>;
  call(action: ActionInput<'call_tool'>, context: ExecuteContext): Promise<Observation<'call_tool'>>;
}

export class ToolRegistry {
  readonly #calls: ToolCalls;
  readonly #tools = new Map<string, Registered>();

  constructor(calls: ToolCalls) {
    this.#calls = calls;
  }

  /** Registers at once; the first call ships what it needs. */
  add(
    tools: FunctionTool | readonly FunctionTool[],
    entrypoint: string | URL | readonly (string | URL)[] | undefined,
    options: AddOptions,
  ): void {
    const list = [tools].flat() as FunctionTool[];
    const names = list.map(({ name }) => name);
    const taken = names.find((name, index) => this.#tools.has(name) || names.indexOf(name) !== index);
    if (taken !== undefined) {
      throw new WorkcellError(
        'invalid-tool',
        `There is a tool "${taken}" already. Names must differ within a runtime; give one of the two another.`,
        { details: { tool: taken } },
      );
    }
    const shipments = shipmentsOf(list, entrypoint, options);
    for (const tool of list) {
      const shipment = shipments.get(tool);
      if (shipment !== undefined) this.#tools.set(tool.name, this.#register(tool, shipment, options));
    }
  }

  list(): FunctionTool[] {
    return [...this.#tools.values()].map(({ tool }) => tool);
  }

  /** Calls a tool by name, with the same checks as the tool itself. Returns everything that we know of the call. */
  async call(
    name: string,
    input: unknown,
    context: Partial<ToolContext> = {},
  ): Promise<Observation<'call_tool'>> {
    const registered = this.#tools.get(name);
    if (registered !== undefined) return registered.call(input, context);
    const known = [...this.#tools.keys()].join(', ') || 'none';
    throw new WorkcellError('tool-not-found', `There is no tool "${name}". Registered: ${known}.`, {
      details: { tool: name },
    });
  }

  #register(tool: FunctionTool, shipment: Shipment, { redirectStdout }: AddOptions): Registered {
    const { name, parameters, definition, returns } = tool;
    const check = argumentCheck(name, definition.parameters ?? parameters, parameters);
    const checkResult =
      definition.returns === undefined || returns === undefined
        ? undefined
        : resultCheck(name, definition.returns, returns);
    const print = printer(redirectStdout);
    const call: Registered['call'] = async (input, context) => {
      const checked = (await check(input)) as Record<string, unknown>;
      await shipment.arrive(this.#calls.install);
      const given = shipment.takesChecked ? checked : ((input ?? {}) as Record<string, unknown>);
      const observation = await this.#calls.call(
        { action: 'call_tool', tool: name, arguments: given },
        { signal: context.signal, onProgress: listener(context, print) },
      );
      if (checkResult === undefined) return observation;
      return { ...observation, result: await checkResult(observation.result) };
    };
    const execute = async (input: unknown, context: Partial<ToolContext> = {}) =>
      (await call(input, context)).result;
    return { tool: { ...tool, execute }, call };
  }
}

interface Registered {
  /** What the agent gets. */
  readonly tool: FunctionTool;
  call(input: unknown, context: Partial<ToolContext>): Promise<Observation<'call_tool'>>;
}

type Print = (printed: { stream: 'stdout' | 'stderr'; text: string }) => void;

function printer(redirect: AddOptions['redirectStdout']): Print | undefined {
  if (typeof redirect === 'function') return redirect;
  return redirect === true ? ({ stream, text }) => void process[stream].write(text) : undefined;
}

/** Reports no progress when nobody listens. */
function listener(
  { log, progress }: Partial<ToolContext>,
  print: Print | undefined,
): ((told: Progress) => void) | undefined {
  if (log === undefined && progress === undefined && print === undefined) return undefined;
  return (told) => {
    if (told.type === 'tool-log') log?.(told.message);
    else if (told.type === 'tool-progress') progress?.(told.value);
    else if (told.type === 'output-delta' && told.stream !== 'terminal')
      print?.({ stream: told.stream, text: told.text });
  };
}

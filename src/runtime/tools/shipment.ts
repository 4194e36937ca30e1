/** Tools on their way into a cell. */
import { requirePackages } from '../../base/optional-package.js';
import type { ActionInput } from '../../protocol/index.js';
import { bundleEntries, bundleSources } from './bundle-tools.js';
import { parseEntrypoint } from './entrypoint.js';
import type { FunctionTool } from './function-tool.js';
import { isOrigin, type Module, originOf } from './origin.js';
import { isStandard } from './tool-schema.js';

export interface ShipOptions {
  /** The argument for the toolkit of the entry point: any JSON. */
  readonly arguments?: unknown;
  /** Where relative entry points start. Default: the working directory. */
  readonly from?: string | undefined;
}

type Install = (action: ActionInput<'install_tools'>) => Promise<unknown>;

export class Shipment {
  /** True when the module knows nothing of the parameters, so that it gets the checked ones. */
  readonly takesChecked: boolean;
  readonly #tools: readonly FunctionTool[];
  readonly #source: () => Promise<Module>;
  #arrived: Promise<void> | undefined;

  constructor(tools: readonly FunctionTool[], source: () => Promise<Module>, takesChecked: boolean) {
    this.#tools = tools;
    this.#source = source;
    this.takesChecked = takesChecked;
  }

  /** Ships once. After a failure the next call tries again. */
  arrive(install: Install): Promise<void> {
    this.#arrived ??= this.#ship(install).catch((error: unknown) => {
      this.#arrived = undefined;
      throw error;
    });
    return this.#arrived;
  }

  async #ship(install: Install): Promise<void> {
    const tools = this.#tools.map(({ name, parameters, timeoutMs, definition }) => ({
      name,
      // A transformed value need not fit its schema again.
      ...(this.takesChecked && definition.parameters !== undefined && isStandard(definition.parameters)
        ? {}
        : { parameters: { ...parameters } }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    }));
    await install({ action: 'install_tools', ...(await this.#source()), tools });
  }
}

/** Which shipment brings which tool: the entry point, else where the tools say they come from, else their functions. */
export function shipmentsOf(
  tools: readonly FunctionTool[],
  entrypoint: string | URL | readonly (string | URL)[] | undefined,
  options: ShipOptions,
): Map<FunctionTool, Shipment> {
  const origins = tools.map((tool) => (entrypoint === undefined ? originOf(tool) : entrypoint));
  const shipments = new Map<FunctionTool, Shipment>();
  for (const origin of new Set(origins)) {
    const group = tools.filter((_, index) => origins[index] === origin);
    const shipment =
      origin === undefined
        ? new Shipment(group, () => fromFunctions(group), true)
        : new Shipment(
            group,
            isOrigin(origin) ? origin.source : () => fromEntrypoints(origin, options),
            false,
          );
    for (const tool of group) shipments.set(tool, shipment);
  }
  return shipments;
}

async function fromEntrypoints(
  entrypoint: string | URL | readonly (string | URL)[],
  { arguments: given, from = process.cwd() }: ShipOptions,
): Promise<Module> {
  const entries = ([entrypoint].flat() as (string | URL)[]).map(parseEntrypoint);
  return { language: 'javascript', source: await bundleEntries(entries, from), arguments: given };
}

async function fromFunctions(tools: readonly FunctionTool[]): Promise<Module> {
  requirePackages('Shipping functions into a cell', ['esbuild', 'acorn', 'eslint-scope']);
  const { functionSource } = await import('./function-source.js');
  const functions = tools.map(({ name, definition }) => ({
    name,
    source: functionSource(name, definition.execute),
  }));
  return { language: 'javascript', source: await bundleSources(functions) };
}

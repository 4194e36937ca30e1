/** Tools from a module in any supported language, without a build step. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { importModule } from '../../base/import-module.js';
import { temporaryDirectory } from '../../base/own-directory.js';
import { discardTree } from '../../base/remove-tree.js';
import { WorkcellError } from '../../protocol/index.js';
import { bundleEntries } from './bundle-tools.js';
import { parseEntrypoint } from './entrypoint.js';
import { type FunctionTool, type ToolDefinition, tool } from './function-tool.js';
import { type Origin, setOrigin } from './origin.js';
import type { ShipOptions } from './shipment.js';

/**
 * Every tool of a file or package, or of one of its exports with `#name` behind it. The module runs in this process,
 * so load only modules that you trust. The tools know where they come from: `runtime.add(tools)` ships them from
 * there.
 */
export async function loadTools(
  entrypoint: string | URL | readonly (string | URL)[],
  options: ShipOptions = {},
): Promise<FunctionTool[]> {
  const { arguments: given, from = process.cwd() } = options;
  const entries = ([entrypoint].flat() as (string | URL)[]).map(parseEntrypoint);
  const source = await bundleEntries(entries, from);
  const shown = entries.map((entry) => entry.shown).join('", "');
  const definitions = await find(source, given, shown);
  const origin: Origin = { source: async () => ({ language: 'javascript', source, arguments: given }) };
  return definitions.map((definition) => {
    const made = tool(definition) as FunctionTool;
    setOrigin(made, origin);
    return made;
  });
}

async function find(source: string, given: unknown, shown: string): Promise<ToolDefinition[]> {
  const folder = await mkdtemp(join(temporaryDirectory().path, 'tools-'));
  try {
    const file = join(folder, 'tools.mjs');
    await writeFile(file, source, { mode: 0o600 });
    const module = (await importModule(pathToFileURL(file).href)) as {
      find(given: unknown): Promise<ToolDefinition[]>;
    };
    return await module.find(given);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const known = (cause as { code?: unknown } | null)?.code === 'invalid-tool';
    throw new WorkcellError('invalid-tool', known ? reason : `"${shown}" cannot be loaded: ${reason}`, {
      details: { entrypoint: shown },
      cause,
    });
  } finally {
    await discardTree(folder);
  }
}

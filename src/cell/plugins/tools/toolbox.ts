/** The tools of one cell: the installed modules, and the hosts that run them. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Action,
  type ExecuteContext,
  type Observation,
  WorkcellError,
} from '../../../protocol/index.js';
import type { PluginCell } from '../plugin.js';
import { programs } from './inside/host-programs.js';
import { type Checked, compile, describe } from './json-schema.js';
import { type InstalledKit, ToolHost } from './tool-host.js';
import { defaultTimeoutMs } from './tool-limits.js';

type Language = Action<'install_tools'>['language'];
type AskedTool = NonNullable<Action<'install_tools'>['tools']>[number];

/** A module with the arguments for its tools. */
interface Kit {
  readonly key: string;
  readonly language: Language;
  /** As seen from inside. */
  readonly file: string;
  /** In the module; without one, all of it. */
  readonly name: string | undefined;
  readonly arguments: unknown;
  /** Whether the caller wants descriptions of its tools. */
  readonly describe: boolean;
}

interface InstalledTool {
  readonly kit: Kit;
  readonly check: ((value: unknown) => Checked) | undefined;
  readonly timeoutMs: number | undefined;
}

interface RunningHost {
  readonly host: Promise<ToolHost>;
  /** The kits that it has, by key and request, with their tools. */
  readonly kits: Map<string, Promise<InstalledKit>>;
}

export class Toolbox {
  readonly #cell: PluginCell;
  readonly #tools = new Map<string, InstalledTool>();
  readonly #hosts = new Map<Language, RunningHost>();

  constructor(cell: PluginCell) {
    this.#cell = cell;
  }

  async install(action: Action<'install_tools'>): Promise<InstalledKit> {
    const { language, tools: asked } = action;
    if (language === 'javascript' && (asked === undefined || action.name !== undefined)) {
      throw new WorkcellError(
        'invalid-action',
        'A JavaScript module is installed with the names and schemas of its tools, and without a name in it.',
      );
    }
    // The host starts while we write the module.
    const running = this.#host(language);
    running.host.catch(() => {});
    let checks = asked?.map(compiled);
    const kit = await this.#keep(action);
    const { tools: known, described } = await this.#ready(running, kit);
    const tools = asked ?? described.map((tool): AskedTool => tool);
    checks ??= described.map(compiled);
    const missing = tools.filter(({ name }) => !known.includes(name)).map(({ name }) => `"${name}"`);
    if (missing.length > 0) {
      throw new WorkcellError(
        'invalid-tool',
        `The module has no tool ${missing.join(', ')}. It has: ${known.join(', ') || 'none'}.`,
        { details: { missing, known } },
      );
    }
    for (const [index, { name, timeoutMs }] of tools.entries())
      this.#tools.set(name, { kit, check: checks?.[index], timeoutMs });
    return { tools: tools.map(({ name }) => name), described: asked === undefined ? described : [] };
  }

  async call(
    { tool, arguments: given, timeoutMs }: Action<'call_tool'>,
    context: ExecuteContext,
  ): Promise<Omit<Observation<'call_tool'>, 'observation'>> {
    const installed = this.#tools.get(tool);
    if (installed === undefined) {
      throw new WorkcellError(
        'tool-not-found',
        `There is no tool "${tool}" in this cell. Installed: ${[...this.#tools.keys()].join(', ') || 'none'}.`,
        { details: { tool } },
      );
    }
    const checked = installed.check?.(given) ?? { value: given };
    if (checked.issues !== undefined) {
      throw new WorkcellError(
        'invalid-arguments',
        `The arguments of tool "${tool}" are not valid: ${describe(checked.issues)}.`,
        { details: { tool, issues: checked.issues } },
      );
    }
    const started = performance.now();
    const running = this.#host(installed.kit.language);
    await this.#ready(running, installed.kit);
    const answer = await (await running.host).call(
      {
        key: installed.kit.key,
        tool,
        input: checked.value,
        timeoutMs: timeoutMs ?? installed.timeoutMs ?? defaultTimeoutMs,
      },
      context,
    );
    return { tool, ...answer, durationMs: performance.now() - started };
  }

  /** Ends the hosts with everything that their tools started. The next call starts new ones. */
  async reset(): Promise<void> {
    const hosts = [...this.#hosts.values()];
    this.#hosts.clear();
    await Promise.allSettled(hosts.map(async ({ host }) => (await host).close()));
  }

  /** The host of a language; replaces one that died. */
  #host(language: Language): RunningHost {
    const running = this.#hosts.get(language);
    if (running !== undefined) return running;
    const fresh: RunningHost = { host: ToolHost.start(this.#cell, programs[language]), kits: new Map() };
    this.#hosts.set(language, fresh);
    const forget = () => {
      if (this.#hosts.get(language) === fresh) this.#hosts.delete(language);
    };
    fresh.host.then((host) => host.lost.then(forget), forget);
    return fresh;
  }

  #ready({ host, kits }: RunningHost, kit: Kit): Promise<InstalledKit> {
    const asked = `${kit.key} ${kit.describe}`;
    const known = kits.get(asked);
    if (known !== undefined) return known;
    const installing = host.then((started) => started.install(kit));
    kits.set(asked, installing);
    installing.catch(() => kits.delete(asked));
    return installing;
  }

  /** Writes the module where the cell can read it and, if the place allows, nothing in the cell can change it. */
  async #keep({ language, source, name, arguments: given, tools }: Action<'install_tools'>): Promise<Kit> {
    const hash = createHash('sha256')
      .update(`${JSON.stringify([language, name, given])}\n`)
      .update(source);
    const key = hash.digest('hex').slice(0, 32);
    const file = `kit-${key}${programs[language].extension}`;
    const { outside, inside } = this.#cell.exchange;
    await mkdir(join(outside, 'tools'), { recursive: true, mode: 0o700 });
    await writeFile(join(outside, 'tools', file), source, { mode: 0o600 });
    return {
      key,
      language,
      file: `${inside}/tools/${file}`,
      name,
      arguments: given,
      describe: tools === undefined,
    };
  }
}

function compiled({ name, parameters }: AskedTool): InstalledTool['check'] {
  return parameters === undefined ? undefined : compile(parameters, `The schema of tool "${name}"`, true);
}

/** Turns the keys of OpenHands' own configuration file into settings, and reports why a key has none. */
import { fromFile } from '../entries.js';
import { checkEntry } from '../load-config.js';
import { OutsideBackends } from '../outside-backends.js';
import { isTable, type Table } from '../plain-table.js';
import { type Installation, type Mapping, Output } from './import-output.js';
import { agentKeys, coreKeys, kubernetesKeys, sandboxKeys, securityKeys } from './openhands-keys.js';
import { importMcp } from './openhands-mcp.js';

export interface Imported {
  /** As a configuration file has them. */
  readonly settings: Table;
  /** Keys without a full setting, and other notes for the user. */
  readonly notes: readonly { readonly key: string; readonly reason: string }[];
}

const sections: Readonly<Record<string, Readonly<Record<string, Mapping>>>> = {
  core: coreKeys,
  sandbox: sandboxKeys,
  kubernetes: kubernetesKeys,
  security: securityKeys,
  agent: agentKeys,
};

/** Sections about something other than where an agent works. */
const elsewhere: Readonly<Record<string, string>> = {
  llm: 'the model of the agent is no setting of the place where it works',
  condenser: 'how the agent remembers is no setting of the place where it works',
  model_routing: 'the model of the agent is no setting of the place where it works',
  extended: 'it belongs to extensions of OpenHands',
  cli: 'it belongs to the command line of OpenHands',
  eval: 'it belongs to the evaluation of OpenHands',
};

/** Checks its result: throws `invalid-config` for a value that no setting accepts. */
export async function importOpenHands(content: Table, installation: Installation): Promise<Imported> {
  const core = isTable(content.core) ? content.core : {};
  const output = new Output(installation, typeof core.runtime === 'string' ? core.runtime : 'docker');
  for (const [name, value] of Object.entries(content)) {
    if (name === 'mcp' && isTable(value)) importMcp(value, output);
    else if (isTable(value)) importSection(name, value, output);
    else output.note(name, 'OpenHands has its keys in sections; this one stands above them');
  }
  output.set('backend', output.backend);
  if (output.backend === 'docker' && !output.has('backends.docker.network'))
    output.note(
      'sandbox',
      'containers of OpenHands reach the network, and cells do not. Add [network] with mode = "open" where that is wanted',
    );
  await checkSettings(output.settings);
  return { settings: output.settings, notes: output.notes };
}

async function checkSettings(settings: Table): Promise<void> {
  for (const entry of await fromFile('the result', settings, new OutsideBackends())) checkEntry(entry);
}

function importSection(name: string, table: Table, output: Output): void {
  const known = Object.hasOwn(sections, name) ? sections[name] : undefined;
  for (const [key, value] of Object.entries(table)) {
    const full = `${name}.${key}`;
    if (known === undefined) {
      const reason = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined;
      output.note(full, reason ?? 'OpenHands has no such section');
    } else if (!Object.hasOwn(known, key)) {
      // Each separate agent or model has its own table within the section.
      output.note(full, isTable(value) ? 'it holds for one agent of OpenHands' : 'OpenHands has no such key');
    } else {
      const reason = known[key]?.(value, output);
      if (reason !== undefined) output.note(full, reason);
    }
  }
}

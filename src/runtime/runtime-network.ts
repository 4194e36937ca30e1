import {
  type CellNetwork,
  describeIssues,
  type FullNetworkRules,
  type NetworkAsker,
  type NetworkEvent,
  type NetworkRecord,
  type NetworkRules,
  networkRulesSchema,
  WorkcellError,
} from '../protocol/index.js';

/** What the cell may reach, while it runs. */
export class RuntimeNetwork {
  readonly #network: CellNetwork | undefined;
  readonly #refusals: { readonly number: number; readonly text: string }[] = [];
  #count = 0;
  #actions = 0;
  /** Running commands, by a number of our own. */
  readonly #running = new Map<number, string>();
  /** What the settings deny; no change takes it back. */
  readonly #floor: readonly string[];

  /** `record` gets each decision, each connection and each change of the rules; `asker` the questions. `floor`: what stays denied. */
  constructor(
    network: CellNetwork | undefined,
    record: (event: NetworkRecord) => void,
    asker: NetworkAsker | undefined,
    floor: readonly string[] = [],
  ) {
    this.#network = network;
    this.#floor = floor;
    if (asker !== undefined)
      network?.answerWith((question, signal) =>
        asker({ ...question, commands: [...this.#running.values()] }, signal),
      );
    network?.listen((event) => {
      record(event.outcome === 'changed' ? event : { ...event, ...this.#meanwhile() });
      if (event.outcome === 'refused') this.#remember(event);
    });
  }

  /** The rules in force; undefined for a cell that started with `none` or `open`. */
  rules(): FullNetworkRules | undefined {
    return this.#network?.rules();
  }

  /** Allows more hosts from now on. A rule in `deny` still wins. */
  allow(...rules: string[]): Promise<void> {
    return this.#change((before) => ({ ...before, allow: joined(before.allow, rules) }));
  }

  /** Refuses hosts from now on, and ends connections to them. */
  deny(...rules: string[]): Promise<void> {
    return this.#change((before) => ({ ...before, deny: joined(before.deny, rules) }));
  }

  /**
   * Replaces all rules except the denials of the settings, and ends the connections that the new ones do not allow.
   */
  set(rules: NetworkRules): Promise<void> {
    return this.#change(() => ({ ...rules, deny: joined(this.#floor, rules.deny ?? []) }));
  }

  /**
   * Called for each action. Returns a function to call at its end, which returns a sentence for the agent about
   * connections refused meanwhile.
   */
  begin(action: { readonly command?: unknown }): () => string | undefined {
    const mark = this.#count;
    if (this.#network === undefined) return () => undefined;
    const number = ++this.#actions;
    if (typeof action.command === 'string') this.#running.set(number, action.command.slice(0, 1000));
    return () => {
      this.#running.delete(number);
      return this.#refusedSince(mark);
    };
  }

  #refusedSince(mark: number): string | undefined {
    const texts = this.#refusals.filter(({ number }) => number > mark).map(({ text }) => text);
    const different = [...new Set(texts)];
    if (different.length === 0) return undefined;
    const shown = different.slice(-most);
    const more = different.length > most ? ` and ${different.length - most} others` : '';
    return `While this ran, the network rules of the cell refused ${shown.join('; ')}${more}. Ask the owner of the cell to allow what you need.`;
  }

  #meanwhile(): { command?: string } {
    const [command, ...others] = this.#running.values();
    return command === undefined || others.length > 0 ? {} : { command };
  }

  #remember({ host, port, reason }: NetworkEvent): void {
    const place = host === '' ? `port ${port}` : `${host.includes(':') ? `[${host}]` : host}:${port}`;
    this.#refusals.push({ number: ++this.#count, text: `${place} (${reason})` });
    if (this.#refusals.length > most * 4) this.#refusals.shift();
  }

  async #change(next: (before: FullNetworkRules) => NetworkRules): Promise<void> {
    if (this.#network === undefined)
      throw new WorkcellError(
        'capability-unsupported',
        'This cell was started without network rules, so there are none to change. Start it with network: { allow: [] }, on a backend that enforces rules.',
        { details: { capability: 'network' } },
      );
    await this.#network.change((before) => {
      const rules = networkRulesSchema.safeParse(next(before));
      if (rules.success) return rules.data;
      throw new WorkcellError(
        'invalid-config',
        `The network rules are not valid: ${describeIssues(rules.error)}.`,
      );
    });
  }
}

/** Enough to tell an agent what went wrong. */
const most = 8;

function joined(before: readonly string[], added: readonly string[]): string[] {
  return [...new Set([...before, ...added])];
}

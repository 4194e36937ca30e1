export interface LogLine {
  readonly timestamp: string;
  readonly level: 'info' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, string>>;
}

const keptLines = 1000;
const longestField = 2000;

/** What happened in a sandbox, as lines. The whole record is in the event store of the service. */
export class SandboxLog {
  readonly #lines: LogLine[] = [];

  add(
    message: string,
    fields: Readonly<Record<string, string>> = {},
    level: LogLine['level'] = 'info',
  ): void {
    const short = Object.entries(fields).map(([name, value]) => [name, beginningOf(value)]);
    this.#lines.push({
      timestamp: new Date().toISOString(),
      level,
      message,
      fields: Object.fromEntries(short) as Record<string, string>,
    });
    if (this.#lines.length > keptLines) this.#lines.shift();
  }

  lines(): readonly LogLine[] {
    return this.#lines;
  }
}

/** A slice would hold the whole text. */
function beginningOf(text: string): string {
  return text.length <= longestField ? text : Buffer.from(text.slice(0, longestField)).toString();
}

/** Text in columns for a person to read. */

type Style = (text: string) => string;

/**
 * Lays fields out in columns; on a terminal it wraps the last one to the remaining width. `style` colours a field
 * after the layout.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  style: (cell: string) => Style = () => (text) => text,
): string {
  const last = header.length - 1;
  const widths = header.map((_, column) =>
    Math.max(...[header, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const indent = widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0);
  const room = Math.max(30, (process.stdout.columns ?? Number.POSITIVE_INFINITY) - indent);
  const format = (row: readonly string[], styleOf: (cell: string) => Style) => {
    const cells = row
      .slice(0, last)
      .map((cell, column) => `${styleOf(cell)(cell.padEnd(widths[column] ?? 0))}  `);
    return (
      cells.join('') +
      wrap(row[last] ?? '', room)
        .map(styleOf(row[last] ?? ''))
        .join(`\n${' '.repeat(indent)}`)
    );
  };
  return [format(header, () => dim), ...rows.map((row) => format(row, style))].join('\n');
}

export const dim: Style = (text) => styled(2, text);

export const green: Style = (text) => styled(32, text);

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Uses colour only on terminals, and not for people who set NO_COLOR. */
function styled(code: number, text: string): string {
  return process.stdout.isTTY && !process.env.NO_COLOR ? `\x1b[${code}m${text}\x1b[0m` : text;
}

/** A time in the largest unit that fits. */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** A number of bytes in the largest unit that fits. */
export function size(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** power;
  return `${power > 0 && value < 10 ? value.toFixed(1) : Math.floor(value)} ${units[power]}`;
}

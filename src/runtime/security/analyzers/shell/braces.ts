/** The words that `{a,b}` and `{1..3}` expand to. */
export function expandBraces(text: string, variable: (name: string) => string): string[] {
  const inner = text.slice(1, -1);
  const range = /^(-?\d+|[a-zA-Z])\.\.(-?\d+|[a-zA-Z])/.exec(inner);
  if (range !== null) return [range[1] ?? '', range[2] ?? ''];
  return splitAtCommas(inner).flatMap((part) => expandNested(part, variable));
}

function expandNested(part: string, variable: (name: string) => string): string[] {
  const open = part.indexOf('{');
  const close = part.lastIndexOf('}');
  if (open !== -1 && close > open) {
    return expandBraces(part.slice(open, close + 1), variable).map(
      (middle) => part.slice(0, open) + middle + part.slice(close + 1),
    );
  }
  return [part.replace(/\$\{?(\w+)\}?/g, (_, name: string) => variable(name)).replace(/['"\\]/g, '')];
}

function splitAtCommas(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '{') depth++;
    else if (text[index] === '}') depth--;
    else if (text[index] === ',' && depth === 0) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...parts, text.slice(start)];
}

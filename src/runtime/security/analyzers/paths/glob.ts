/** True when the text has a wildcard of the shell, or an unknown part. */
export function hasWildcard(text: string): boolean {
  return /[*?[\0]/.test(text);
}

const longestGlob = 4096;

type Token = { readonly repeats: boolean; fits(character: string): boolean };

/**
 * Whether a shell wildcard matches a whole path. An unknown part matches anything. It follows all ways at once, so
 * that no pattern takes longer than its length times the length of the text.
 */
export function globMatches(glob: string, text: string): boolean {
  if (glob.length > longestGlob) return true;
  let places = new Set([0]);
  for (const token of tokensOf(glob)) {
    const next = new Set<number>();
    for (const place of places) {
      if (!token.repeats) {
        if (place < text.length && token.fits(text[place] as string)) next.add(place + 1);
        continue;
      }
      next.add(place);
      for (let end = place; end < text.length && token.fits(text[end] as string) && !next.has(end + 1); end++)
        next.add(end + 1);
    }
    if (next.size === 0) return false;
    places = next;
  }
  return places.has(text.length);
}

function* tokensOf(glob: string): Generator<Token> {
  for (let index = 0; index < glob.length; index++) {
    const character = glob[index] as string;
    if (character === '*') yield anyInName;
    else if (character === '\0') yield anything;
    else if (character === '?') yield { repeats: false, fits: (found) => found !== '/' };
    else if (character === '[' && glob.indexOf(']', index + 2) !== -1) {
      const end = glob.indexOf(']', index + 2);
      yield bracket(glob.slice(index + 1, end));
      index = end;
    } else yield { repeats: false, fits: (found) => found === character };
  }
}

const anyInName: Token = { repeats: true, fits: (found) => found !== '/' };
const anything: Token = { repeats: true, fits: () => true };

function bracket(inner: string): Token {
  const negated = /^[!^]/.test(inner);
  const set = negated ? inner.slice(1) : inner;
  const fits = (found: string) => {
    for (let index = 0; index < set.length; index++) {
      const from = set[index] as string;
      const to = set[index + 1] === '-' && index + 2 < set.length ? (set[index + 2] as string) : from;
      if (found >= from && found <= to) return true;
      if (to !== from) index += 2;
    }
    return false;
  };
  return { repeats: false, fits: (found) => found !== '/' && fits(found) !== negated };
}

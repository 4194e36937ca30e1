/** Hides secrets in a stream of pieces, wherever the cuts are. */
import type { Matcher, Span } from './secret-matcher.js';

/** Beyond this much, mask a run of overlapping secrets as one and emit it. */
const mostHeld = 65_536;

export interface TextMasker {
  /** Returns the text that it can show so far. `consumed` is how much of the input it covers. */
  write(text: string): { text: string; consumed: number };
  /** The rest. */
  end(): string;
}

/** `replace` returns what replaces a secret. */
export function createMasker(matcher: Matcher, replace: (span: Span, found: string) => string): TextMasker {
  let kept = '';
  const show = (text: string, spans: readonly Span[]) => {
    let shown = '';
    let position = 0;
    for (const span of spans) {
      shown += text.slice(position, span.start) + replace(span, text.slice(span.start, span.end));
      position = span.end;
    }
    return shown + text.slice(position);
  };
  return {
    write(text) {
      kept += text;
      const spans = matcher.find(kept);
      let cut = kept.length - matcher.held(kept);
      const across = spans.find((span) => span.start < cut && span.end > cut);
      if (across !== undefined) cut = kept.length - across.start > mostHeld ? across.end : across.start;
      const shown = show(
        kept.slice(0, cut),
        spans.filter((span) => span.end <= cut),
      );
      kept = kept.slice(cut);
      return { text: shown, consumed: cut };
    },
    end() {
      const rest = show(kept, matcher.find(kept));
      kept = '';
      return rest;
    },
  };
}

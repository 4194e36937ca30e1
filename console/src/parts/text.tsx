/** Text from a cell: never markup, and with nothing hidden in it. */
import { Fragment, useLayoutEffect, useRef, useState } from 'react';
import { fewPieces, visible } from '../visible.js';

const shownAtOnce = 100_000;

export function Plain({ value }: { value: string }) {
  return (
    <bdi>
      {fewPieces(value).map(({ text, mark }, index) =>
        mark ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text have no other name
          <span key={index} className="mark">
            {text}
          </span>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text have no other name
          <Fragment key={index}>{text}</Fragment>
        ),
      )}
    </bdi>
  );
}

/** A block of it, which shows its beginning until the reader asks for more. */
export function Block({
  value,
  label,
  atEnd = false,
}: {
  value: string;
  label: string;
  /** Stays at the end of a text that grows. */
  atEnd?: boolean;
}) {
  const [most, setMost] = useState(shownAtOnce);
  const box = useRef<HTMLPreElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the text moves its end
  useLayoutEffect(() => {
    if (atEnd && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [value, atEnd]);
  return (
    <section className="block" aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre ref={box} tabIndex={0}>
        <Plain value={value.slice(0, most)} />
      </pre>
      {value.length > most && (
        <button type="button" className="quiet" onClick={() => setMost(most * 4)}>
          Show more ({value.length - most} characters left)
        </button>
      )}
    </section>
  );
}

/** Added and removed lines in their colours. */
export function Diff({ value }: { value: string }) {
  const lines = value.slice(0, shownAtOnce).replace(/\n$/, '').split('\n');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre className="diff" tabIndex={0}>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of one text have no other name
        <div key={index} className={kindOf(line)}>
          <Plain value={line === '' ? ' ' : line} />
        </div>
      ))}
    </pre>
  );
}

export function Mono({ value, title }: { value: string; title?: string }) {
  return (
    <span className="mono" title={visible((title ?? value).slice(0, 1000))}>
      <Plain value={value} />
    </span>
  );
}

function kindOf(line: string): string {
  if (line.startsWith('+++') || line.startsWith('---')) return 'diff-file';
  if (line.startsWith('@@')) return 'diff-place';
  if (line.startsWith('+')) return 'diff-new';
  return line.startsWith('-') ? 'diff-old' : '';
}

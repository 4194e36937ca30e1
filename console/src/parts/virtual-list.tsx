/** A list of any length, of which only the rows in sight exist. Arrow keys move the choice. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react';

interface Props {
  readonly count: number;
  readonly rowHeight: number;
  readonly label: string;
  /** The chosen row; -1 for none. */
  readonly chosen: number;
  readonly onChoose: (index: number) => void;
  /** Stays at the end while rows are added there, until the reader scrolls away. */
  readonly sticky?: boolean;
  /** Ids that grow with the index: where rows come before those in sight, these stay where they are. */
  readonly idOf?: (index: number) => number | undefined;
  readonly children: (index: number) => React.ReactNode;
}

const spare = 8;

export function VirtualList({
  count,
  rowHeight,
  label,
  chosen,
  onChoose,
  sticky = false,
  idOf,
  children,
}: Props) {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const atEnd = useRef(true);
  const seen = useRef({ first: idOf?.(0), top: undefined as number | undefined });
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const firstId = idOf?.(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only rows that come before others move them
  useLayoutEffect(() => {
    const element = box.current;
    const { first: before, top: topId } = seen.current;
    seen.current.first = firstId;
    if (element === null || idOf === undefined || topId === undefined || firstId === before) return;
    const rows = rowsBefore(topId, count, idOf);
    element.scrollTop = rows * rowHeight + (element.scrollTop % rowHeight);
  }, [firstId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new row may move the end
  useLayoutEffect(() => {
    if (sticky && atEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [count, sticky, height]);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || chosen < 0) return;
    const from = chosen * rowHeight;
    if (from < element.scrollTop) element.scrollTop = from;
    else if (from + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = from + rowHeight - element.clientHeight;
  }, [chosen, rowHeight]);
  const first = Math.max(0, Math.floor(top / rowHeight) - spare);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + spare);
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: Math.floor(height / rowHeight),
    PageUp: -Math.floor(height / rowHeight),
    Home: -count,
    End: count,
  };
  return (
    <div
      ref={box}
      className="virtual"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={chosen >= first && chosen < last ? `${id}-${chosen}` : undefined}
      onScroll={({ currentTarget: element }) => {
        setTop(element.scrollTop);
        seen.current.top = idOf?.(Math.floor(element.scrollTop / rowHeight));
        atEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight;
      }}
      onKeyDown={(event) => {
        const step = steps[event.key];
        if (step === undefined || count === 0) return;
        event.preventDefault();
        const from = chosen < 0 ? (step > 0 ? -1 : count) : chosen;
        onChoose(Math.max(0, Math.min(count - 1, from + step)));
      }}
    >
      <div style={{ height: count * rowHeight }} role="presentation">
        <div style={{ transform: `translateY(${first * rowHeight}px)` }} role="presentation">
          {Array.from({ length: Math.max(0, last - first) }, (_, offset) => {
            const index = first + offset;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the focus and takes the keys
              <div
                key={index}
                id={`${id}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === chosen}
                aria-setsize={count}
                aria-posinset={index + 1}
                className="line"
                style={{ height: rowHeight }}
                onClick={() => onChoose(index)}
              >
                {children(index)}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** How many rows have a smaller id. */
function rowsBefore(id: number, count: number, idOf: (index: number) => number | undefined): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((idOf(middle) ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

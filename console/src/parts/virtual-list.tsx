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
  readonly children: (index: number) => React.ReactNode;
}

const spare = 8;

export function VirtualList({ count, rowHeight, label, chosen, onChoose, sticky = false, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const atEnd = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
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

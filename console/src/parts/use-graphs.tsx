/** Processor and memory of a cell since the page shows them. Looking leaves nothing in the record. */
import { useEffect, useRef } from 'react';
import type uPlot from 'uplot';
import type { Activity, CellUse } from '../../../src/protocol/record-wire.js';
import { ask } from '../api.js';
import { bytes, clock } from '../format.js';
import { usePolled } from '../polled.js';
import { Rates } from '../rates.js';

const everyMs = 2000;
/** Half an hour. */
const mostPoints = 900;

interface Series {
  readonly at: number[];
  readonly cpu: (number | null)[];
  readonly memory: number[];
}

export function UseGraphs({ id }: { id: string }) {
  const series = useRef<Series>({ at: [], cpu: [], memory: [] });
  const rates = useRef(new Rates());
  const use = usePolled(() => readUse(id), everyMs, id).value;
  if (use !== undefined) add(series.current, use, rates.current.percent(id, use));
  const { at, cpu, memory } = series.current;
  if (at.length === 0) return null;
  const percent = cpu.at(-1);
  return (
    <div className="graphs">
      <Graph
        label="Processor"
        now={percent == null ? '–' : `${percent.toFixed(0)} %`}
        at={at}
        values={cpu}
        unit={(value) => `${value} %`}
      />
      <Graph label="Memory" now={bytes(memory.at(-1) ?? 0)} at={at} values={memory} unit={bytes} />
    </div>
  );
}

async function readUse(id: string): Promise<CellUse | undefined> {
  const query = new URLSearchParams({ use: '1', cell: id });
  return (await ask<Activity[]>(`/v1/activity?${query}`))[0]?.use;
}

function add({ at, cpu, memory }: Series, use: CellUse, percent: number | undefined): void {
  const seconds = use.at / 1000;
  if (seconds <= (at.at(-1) ?? 0)) return;
  at.push(seconds);
  cpu.push(percent ?? null);
  memory.push(use.memoryBytes);
  if (at.length > mostPoints) for (const list of [at, cpu, memory]) list.shift();
}

interface GraphProps {
  readonly label: string;
  readonly now: string;
  readonly at: readonly number[];
  readonly values: readonly (number | null)[];
  readonly unit: (value: number) => string;
}

function Graph({ label, now, at, values, unit }: GraphProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const data = (): uPlot.AlignedData => [[...at], [...values]];
  // biome-ignore lint/correctness/useExhaustiveDependencies: made once, and given data below
  useEffect(() => {
    const left = new AbortController();
    void start(box.current as HTMLElement, unit, data(), left.signal).then((made) => {
      plot.current = made;
    });
    return () => left.abort();
  }, []);
  const last = at.at(-1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: one point more makes other data
  useEffect(() => plot.current?.setData(data()), [last]);
  return (
    <figure>
      <figcaption>
        {label} <strong>{now}</strong>
      </figcaption>
      <div ref={box} role="img" aria-label={`${label} over time, ${now} now`} />
    </figure>
  );
}

const height = 130;
const shortestSeconds = 60;

async function start(
  box: HTMLElement,
  unit: (value: number) => string,
  data: uPlot.AlignedData,
  left: AbortSignal,
): Promise<uPlot | undefined> {
  const [{ default: Plot }] = await Promise.all([
    import('uplot'),
    import('uplot/dist/uPlot.min.css').then(() => {}),
  ]);
  if (left.aborted) return undefined;
  const styles = getComputedStyle(box);
  const axis = {
    stroke: styles.color,
    grid: { show: false },
    ticks: { show: false },
    font: '11px sans-serif',
  };
  const plot = new Plot(
    {
      width: box.clientWidth,
      height,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        // A first point alone has no width; so the graph is as wide as a minute from the beginning.
        x: { range: (_plot, first, last) => [Math.min(first, last - shortestSeconds), last] },
        y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
      },
      axes: [
        { ...axis, values: (_plot, moments) => moments.map((seconds) => clock(seconds * 1000)), space: 90 },
        { ...axis, values: (_plot, values) => values.map(unit), size: 64 },
      ],
      series: [{}, { stroke: styles.getPropertyValue('--graph'), width: 1.5, points: { show: false } }],
    },
    data,
    box,
  );
  const observer = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height }));
  observer.observe(box);
  left.addEventListener('abort', () => {
    observer.disconnect();
    plot.destroy();
  });
  return plot;
}

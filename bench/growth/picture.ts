/** A line for each subject: its cost as a multiple of its cost at the smallest number. */
import type { Grown } from './run.js';

const size = { width: 640, height: 320, left: 60, right: 130, top: 20, bottom: 45 };
const colours = ['#1f77b4', '#d95f02', '#1b9e77', '#7570b3'];

export function picture(all: readonly Grown[]): string {
  const relative = all.map(({ points }) => points.map(({ ratio }) => ratio / (points[0]?.ratio ?? 1)));
  const most = Math.max(2, ...relative.flat()) * 1.1;
  const steps = Math.max(...relative.map(({ length }) => length)) - 1;
  const x = (index: number) => size.left + (index * (size.width - size.left - size.right)) / steps;
  const y = (value: number) =>
    size.height - size.bottom - (value * (size.height - size.top - size.bottom)) / most;
  const at = (value: number) => value.toFixed(1);
  const marks = [0, 1, Math.floor(most)].filter((value, index, list) => list.indexOf(value) === index);
  const grid = marks.map(
    (value) =>
      `<line x1="${size.left}" x2="${size.width - size.right}" y1="${at(y(value))}" y2="${at(y(value))}" stroke="#bbb"/><text x="${size.left - 8}" y="${at(y(value) + 4)}" text-anchor="end">${value}×</text>`,
  );
  const labels = Array.from(
    { length: steps + 1 },
    (_, index) =>
      `<text x="${at(x(index))}" y="${size.height - size.bottom + 20}" text-anchor="middle">× ${10 ** index}</text>`,
  );
  const lines = all.map(({ name }, which) => {
    const values = relative[which] ?? [];
    const points = values.map((value, index) => `${at(x(index))},${at(y(value))}`).join(' ');
    const colour = colours[which % colours.length];
    const key = size.top + 20 + which * 20;
    return `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2"/><text x="${size.width - size.right + 15}" y="${key}" fill="${colour}">${name}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="sans-serif" font-size="13" fill="#666">
<title>Cost of one use as the number of cells, sessions, files and events grows, as a multiple of the cost at the smallest number</title>
${[...grid, ...labels, ...lines].join('\n')}
</svg>
`;
}

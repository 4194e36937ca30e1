import { cellStates } from '../protocol/service-wire.js';
import type { ServiceCells } from './service-cells.js';

/** The figures of the service in the text format of Prometheus. */
export function renderServiceMetrics(cells: ServiceCells): string {
  const counts = new Map<string, number>();
  for (const { tenant, state } of cells.list(undefined)) {
    const key = `tenant="${tenant}",state="${state}"`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [
    `# HELP workcell_cells Cells by tenant and state (${cellStates.join(', ')}).`,
    '# TYPE workcell_cells gauge',
    ...[...counts].map(([labels, count]) => `workcell_cells{${labels}} ${count}`),
    '# HELP workcell_cells_waiting Cells that wait to be started.',
    '# TYPE workcell_cells_waiting gauge',
    `workcell_cells_waiting ${cells.waiting}`,
    '# HELP workcell_resident_memory_bytes Memory of the service itself.',
    '# TYPE workcell_resident_memory_bytes gauge',
    `workcell_resident_memory_bytes ${process.memoryUsage.rss()}`,
    '',
  ].join('\n');
}

/** The server's figures in the text format of Prometheus. Loads with the first request for it. */
import type { ServerContext } from './server-context.js';

export function renderMetrics(context: ServerContext): { contentType: string; text: string } {
  const { counters, calls } = context;
  const lines: string[] = [];
  const describe = (name: string, type: 'counter' | 'gauge', help: string) =>
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
  const gauge = (name: string, help: string, value: number) => {
    describe(`workcell_${name}`, 'gauge', help);
    lines.push(`workcell_${name} ${value}`);
  };
  const counter = (name: string, help: string, value: number) => {
    describe(`workcell_${name}_total`, 'counter', help);
    lines.push(`workcell_${name}_total ${value}`);
  };

  counter('requests', 'Requests that were answered.', counters.requests);
  counter('failures', 'Requests that were answered with a status of 500 or above.', counters.failures);
  describe('workcell_actions_total', 'counter', 'Actions that were started, by name.');
  for (const [action, count] of counters.actions)
    lines.push(`workcell_actions_total{action="${escaped(action)}"} ${count}`);
  gauge('actions_running', 'Actions under way.', calls.running);
  gauge('actions_kept', 'Ended actions whose result is kept.', calls.kept);
  gauge('connections', 'Open connections.', counters.connections());
  gauge('terminals', 'Open terminals.', counters.terminals);
  gauge('uptime_seconds', 'Time since the server started.', (performance.now() - counters.startedAt) / 1000);
  gauge('resident_memory_bytes', 'Memory of the server itself.', process.memoryUsage.rss());
  return { contentType: 'text/plain; version=0.0.4; charset=utf-8', text: `${lines.join('\n')}\n` };
}

function escaped(label: string): string {
  return label.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** The server's figures in the text format of Prometheus. Loaded with the first request for it. */
import { Counter, Gauge, Registry } from 'prom-client';
import type { ServerContext } from './context.js';

export async function renderMetrics(context: ServerContext): Promise<{ contentType: string; text: string }> {
  const { counters, calls } = context;
  const registry = new Registry();
  const gauge = (name: string, help: string, value: number) =>
    new Gauge({ name: `workcell_${name}`, help, registers: [registry] }).set(value);
  const counter = (name: string, help: string, value: number) =>
    new Counter({ name: `workcell_${name}_total`, help, registers: [registry] }).inc(value);

  counter('requests', 'Requests that were answered.', counters.requests);
  counter('failures', 'Requests that were answered with a status of 500 or above.', counters.failures);
  const actions = new Counter({
    name: 'workcell_actions_total',
    help: 'Actions that were started, by name.',
    labelNames: ['action'],
    registers: [registry],
  });
  for (const [action, count] of counters.actions) actions.inc({ action }, count);
  gauge('actions_running', 'Actions under way.', calls.running);
  gauge('actions_kept', 'Ended actions whose result is kept.', calls.kept);
  gauge('connections', 'Open connections.', counters.connections);
  gauge('terminals', 'Open terminals.', counters.terminals);
  gauge('uptime_seconds', 'Time since the server started.', (performance.now() - counters.startedAt) / 1000);
  gauge('resident_memory_bytes', 'Memory of the server itself.', process.memoryUsage.rss());
  return { contentType: registry.contentType, text: await registry.metrics() };
}

/** How the service does, and what its tenants used. */
import type { FastifyInstance } from 'fastify';
import { parse } from '../base/http/parse-request.js';
import { packageVersion } from '../base/package-version.js';
import { cellStates, type ServiceStatus, type ServiceUsage, usageQuery } from '../protocol/service-wire.js';
import type { Askers } from './service-access.js';
import type { ServiceParts } from './service-app.js';
import { checkRole, iso } from './service-keys.js';
import { renderServiceMetrics } from './service-metrics.js';

const shownDaysMs = 30 * 86_400_000;

export function operatorRoutes(app: FastifyInstance, { cells }: ServiceParts, askers: Askers): void {
  const startedAt = iso(Date.now());

  app.get('/metrics', async (request, reply) => {
    checkRole(askers(request), 'operator', 'read the metrics');
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(renderServiceMetrics(cells));
  });

  app.get('/v1/status', async (request): Promise<ServiceStatus> => {
    checkRole(askers(request), 'operator', 'read the status');
    const all = cells.list(undefined);
    const count = (wanted: string) => all.filter(({ state }) => state === wanted).length;
    return {
      version: packageVersion(),
      startedAt,
      cells: Object.fromEntries(cellStates.map((state) => [state, count(state)])) as ServiceStatus['cells'],
      tenants: new Set(all.map(({ tenant }) => tenant)).size,
      waiting: cells.waiting,
      spare: cells.spare,
      memoryBytes: process.memoryUsage.rss(),
      templates: cells.templates.map(({ name }) => name),
    };
  });

  app.get('/v1/usage', async (request, reply) => {
    const asker = askers(request);
    checkRole(asker, 'admin', 'read the usage');
    const query = parse(usageQuery, request.query);
    if (query.tenant !== undefined && query.tenant !== asker.tenant)
      checkRole(asker, 'operator', 'read the usage of other tenants');
    const tenant = query.tenant ?? (asker.role === 'operator' ? undefined : asker.tenant);
    const { to = iso(Date.now()).slice(0, 10), format } = query;
    const from = query.from ?? iso(Date.parse(to) - shownDaysMs).slice(0, 10);
    const rows = (await cells.usage(tenant, from, to)).map(({ tenant: whose, day, cellMs, cells: made }) => ({
      tenant: whose,
      day,
      cellSeconds: cellMs / 1000,
      cells: made,
    }));
    return format === 'json' ? rows : reply.type('text/csv; charset=utf-8').send(csv(rows));
  });
}

/** No field needs quotes: names of tenants hold letters, digits, - and _. */
function csv(rows: readonly ServiceUsage[]): string {
  const lines = rows.map(({ tenant, day, cellSeconds, cells }) => `${tenant},${day},${cellSeconds},${cells}`);
  return ['tenant,day,cell_seconds,cells', ...lines, ''].join('\n');
}

import { cellStates } from '../protocol/service-wire.js';
import type { ServiceCells } from './service-cells.js';
import { creationBuckets, type TenantFigures } from './service-figures.js';

/** The figures of the service in the text format of Prometheus. */
export function renderServiceMetrics(cells: ServiceCells): string {
  const counts = new Map<string, number>();
  for (const { tenant, state } of cells.list(undefined)) {
    const key = `{tenant="${tenant}",state="${state}"}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const tenants = [...cells.figures.tenants];
  const each = (value: (figures: TenantFigures) => number) =>
    tenants.map(([tenant, figures]) => [`{tenant="${tenant}"}`, value(figures)] as const);
  const failed = each((figures) => figures.failed);
  const fromPool = each((figures) => figures.fromPool);
  const by = (label: string, countsOf: (figures: TenantFigures) => ReadonlyMap<string, number>) =>
    tenants.flatMap(([tenant, figures]) =>
      [...countsOf(figures)].map(
        ([value, count]) => [`{tenant="${tenant}",${label}="${value}"}`, count] as const,
      ),
    );
  const answers = by('code', (figures) => figures.answers);
  const errors = by('code', (figures) => figures.errors);
  const actions = by('outcome', (figures) => figures.actions);
  const egress = by(
    'direction',
    ({ sentBytes, receivedBytes }) =>
      new Map([
        ['sent', sentBytes],
        ['received', receivedBytes],
      ]),
  );
  return [
    ...metric('cells', 'gauge', `Cells by tenant and state (${cellStates.join(', ')}).`, [...counts]),
    ...metric('cells_waiting', 'gauge', 'Cells that wait for their start.', [['', cells.waiting]]),
    ...metric('cells_spare', 'gauge', 'Cells that were started ahead.', [['', cells.spare]]),
    '# HELP workcell_cell_creation_seconds How long creations took, with their wait.',
    '# TYPE workcell_cell_creation_seconds histogram',
    ...tenants.flatMap(([tenant, figures]) => histogram(tenant, figures)),
    ...metric('cell_creations_failed_total', 'counter', 'Creations that failed.', failed),
    ...metric('cells_from_pool_total', 'counter', 'Creations that found a cell ready.', fromPool),
    ...metric('requests_total', 'counter', 'Answers by tenant and kind of status.', answers),
    ...metric('errors_total', 'counter', 'Failed answers by tenant and code of the error.', errors),
    ...metric(
      'actions_total',
      'counter',
      'Actions by tenant and outcome: ok, or the code of the error.',
      actions,
    ),
    ...metric('egress_bytes_total', 'counter', 'Bytes of ended connections that a gateway carried.', egress),
    ...metric('resident_memory_bytes', 'gauge', 'Memory of the service itself.', [
      ['', process.memoryUsage.rss()],
    ]),
    '',
  ].join('\n');
}

function metric(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  values: readonly (readonly [labels: string, value: number])[],
): string[] {
  const lines = values.map(([labels, value]) => `workcell_${name}${labels} ${value}`);
  return [`# HELP workcell_${name} ${help}`, `# TYPE workcell_${name} ${type}`, ...lines];
}

function histogram(tenant: string, { within, created, creationSeconds }: TenantFigures): string[] {
  const name = 'workcell_cell_creation_seconds';
  const ends = [...creationBuckets, '+Inf'].map(
    (most, index) => `${name}_bucket{tenant="${tenant}",le="${most}"} ${within[index] ?? created}`,
  );
  return [
    ...ends,
    `${name}_sum{tenant="${tenant}"} ${creationSeconds}`,
    `${name}_count{tenant="${tenant}"} ${created}`,
  ];
}

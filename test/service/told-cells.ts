/** Cells of a service whose runtimes do as told. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, vi } from 'vitest';
import type { Runtime } from '../../src/index.js';
import { createCellSchema } from '../../src/protocol/service-wire.js';
import type { ServiceLimits } from '../../src/service/cell-quotas.js';
import type { RuntimeSource } from '../../src/service/runtime-source.js';
import { ServiceCells } from '../../src/service/service-cells.js';
import { openSqliteServiceStore, type SqliteServiceStore } from '../../src/service/sqlite-service-store.js';
import type { Template } from '../../src/service/templates.js';

export const tenant = 'a';
const template: Template = {
  name: 'default',
  backend: 'sandbox',
  place: {},
  options: () => ({}),
  onIdle: 'pause',
};
export const asked = (fields: object = {}) => createCellSchema.parse(fields);

let directory: string;
export let store: SqliteServiceStore;
/** The cells that are there, whatever the service thinks. */
export let there: Map<string, { lose: () => void; ends: number }>;
export let failing: { close?: boolean; pause?: Promise<void> };

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'service-cells-'));
  store = await openSqliteServiceStore(join(directory, 'service.db'));
  there = new Map();
  failing = {};
});

afterEach(() => {
  vi.useRealTimers();
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

export const source: RuntimeSource = {
  create: async (id, _options, onLost) => runtimeOf(id, onLost),
  attach: async ({ id }, onLost) => runtimeOf(id, onLost),
  find: async (records) => new Map(records.map(({ id }) => [id, there.has(id)])),
};

function runtimeOf(id: string, lose: () => void): Runtime {
  const cell = { lose, ends: 0 };
  there.set(id, cell);
  const end = async () => {
    cell.ends++;
    if (failing.close) throw new Error('not now');
    there.delete(id);
  };
  let ending: Promise<void> | undefined;
  return {
    id,
    workspace: '/workspace',
    events: { listen: () => () => {} },
    isolation: { tier: 'namespace', facts: [] },
    files: {
      upload: async () => {
        throw new Error('no files');
      },
    },
    pause: async () => failing.pause,
    resume: async () => {},
    detach: async () => {},
    // A runtime tries once, whoever asks again.
    close: () => {
      ending ??= end();
      return ending;
    },
  } as unknown as Runtime;
}

export async function open(
  more: Partial<Template> = {},
  from: RuntimeSource = source,
  {
    maxCells = 100,
    maxCellsPerTenant = 100,
    freeBytes,
    tenants = {},
    templates = [],
  }: {
    maxCells?: number;
    maxCellsPerTenant?: number;
    freeBytes?: () => number;
    tenants?: ServiceLimits['tenants'];
    /** Besides the default one. */
    templates?: (Pick<Template, 'name'> & Partial<Template>)[];
  } = {},
): Promise<ServiceCells> {
  const cells = new ServiceCells({
    store,
    source: from,
    templates: new Map(
      [{ name: 'default', ...more }, ...templates].map((each) => [each.name, { ...template, ...each }]),
    ),
    limits: { maxCells, maxCellsPerTenant, startsAtOnce: 4, tenants },
    log: () => {},
    freeBytes,
  });
  await cells.reconcile();
  return cells;
}

/** Starts that wait until the test lets them go on. */
export function slowly() {
  const waiting: (() => void)[] = [];
  const slow: RuntimeSource = {
    ...source,
    async create(...given) {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return source.create(...given);
    },
  };
  return { slow, waiting };
}

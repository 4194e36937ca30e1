/** Starts the service: its store, its templates, its existing cells, and its address. */
import { backendNames, loadBackend } from '../backends/index.js';
import type { Exposure, ListenAddress, Log } from '../base/http/http-options.js';
import { checkExposure, listen, withBoundHost } from '../base/http/listen.js';
import { parseListen } from '../base/http/listen-option.js';
import { readToken } from '../base/http/token.js';
import { chooseBackend } from '../config/choose-backend.js';
import { loadConfig } from '../config/load-config.js';
import type { ServiceSettings } from '../protocol/config-service.js';
import { WorkcellError } from '../protocol/index.js';
import { CellHistory } from './cell-history.js';
import type { ServiceLimits } from './cell-quotas.js';
import { type PreviewServer, startPreviews } from './previews/preview-server.js';
import { Records } from './records.js';
import type { Place } from './replicas/replica-link.js';
import type { Served } from './replicas/serve-replica.js';
import { type RequestLimits, RequestShares } from './request-shares.js';
import { runtimeSource } from './runtime-source.js';
import { type CheckpointLimits, SavedCheckpoints } from './saved-checkpoints.js';
import { createServiceApp, type ServiceMount } from './service-app.js';
import { ServiceCells } from './service-cells.js';
import { ServiceCheckpoints } from './service-checkpoints.js';
import { ServiceKeys } from './service-keys.js';
import type { ServiceStore } from './service-store.js';
import { openSqliteServiceStore } from './sqlite-service-store.js';
import { checkpointsBeside, isPostgres, storeFile } from './store-copy.js';
import { type BroughtTemplate, readTemplates } from './templates.js';
import { Webhooks } from './webhooks.js';

export interface ServiceOptions extends Omit<Exposure, 'token' | 'allowAnonymous'> {
  /** The operator's key: it may do everything, and no store keeps it. */
  readonly operatorKey: string;
  /** The configuration file; `false` ignores all files and `WORKCELL_*`. */
  readonly config?: string | false | undefined;
  readonly log?: Log | undefined;
  /** What the service speaks besides its own API. */
  readonly also?: readonly ServiceMount[] | undefined;
  /** Templates for those protocols, by name; the configuration completes them. */
  readonly templates?: Readonly<Record<string, BroughtTemplate>> | undefined;
  /** Another build of the console than that of this package. */
  readonly console?: string | undefined;
}

export interface Service {
  readonly address: ListenAddress;
  /** Where the service serves ports of cells, if anywhere. */
  readonly previews: ListenAddress | undefined;
  /** Answers requests in progress and leaves all cells running, for the next start. Succeeds when called twice. */
  close(): Promise<void>;
}

/** The tenant of the operator, and of a person who runs a service alone. */
const ownTenant = 'default';

export async function startService(options: ServiceOptions): Promise<Service> {
  const { operatorKey, config: file } = options;
  checkExposure({ ...options, token: operatorKey });
  const config = await loadConfig({ cwd: process.cwd(), env: process.env, file });
  const { service } = config.values;
  const templates = await readTemplates(config, options.templates ?? {}, () =>
    chooseBackend({ known: backendNames, load: loadBackend, demand: {} }),
  );
  const open = (store: ServiceStore) => openParts(store, { options, config, templates });
  if (isPostgres(service.store)) return serveReplicated(options, service, open);
  const store = await openSqliteServiceStore(storeFile(service.store));
  try {
    const { app, previews, close: closeParts } = await open(store);
    const listener = await listen(app, options.listen).catch(async (error: unknown) => {
      await closeParts();
      throw error;
    });
    let closing: Promise<void> | undefined;
    return {
      address: listener.address,
      previews: previews?.address,
      close() {
        closing ??= (async () => {
          await previews?.close();
          await listener.close();
          await closeParts();
          store.close();
        })();
        return closing;
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

/** Several processes with one store, of which one serves at a time. */
async function serveReplicated(
  options: ServiceOptions,
  service: ServiceSettings,
  open: (store: ServiceStore) => Promise<Served>,
): Promise<Service> {
  const { store, replica_listen, replica_host, preview_listen } = service;
  if (preview_listen !== undefined)
    throw new WorkcellError(
      'invalid-config',
      'A service with a store in PostgreSQL has no previews yet. Remove service.preview_listen, or keep the store in a file.',
      { details: { key: 'service.preview_listen' } },
    );
  const link = parseListen(replica_listen) as Place;
  const { serveReplica } = await import('./replicas/serve-replica.js');
  const { address, close } = await serveReplica({
    url: store ?? '',
    exposure: options,
    link,
    linkHost: replica_host ?? link.host,
    leaseMs: service.replica_lease * 1000,
    open,
    log: options.log ?? (() => {}),
  });
  return { address, previews: undefined, close };
}

interface Parts {
  readonly options: ServiceOptions;
  readonly config: Awaited<ReturnType<typeof loadConfig>>;
  readonly templates: Awaited<ReturnType<typeof readTemplates>>;
}

/** All that works on one store: from its existing cells to the routes. */
async function openParts(
  store: ServiceStore,
  { options, config, templates }: Parts,
): Promise<Served & { readonly previews: PreviewServer | undefined }> {
  const { operatorKey, config: file, log = () => {} } = options;
  const { service } = config.values;
  const keys = new ServiceKeys(store, { key: operatorKey, tenant: ownTenant }, service.max_keys_per_tenant);
  await keys.load();
  const limits = limitsOf(service);
  const secret = await store.secret();
  const saved = new SavedCheckpoints(store, checkpointsBeside(service.store, secret), limits);
  await saved.load();
  const cells = new ServiceCells({
    store,
    source: runtimeSource({ config: file, templates, log }),
    templates,
    limits,
    saved,
    log: (message, fields) => log('info', message, fields),
  });
  const webhooks = webhooksOf(service, log);
  if (webhooks !== undefined) cells.listen((change) => webhooks.tell(change));
  await cells.reconcile().catch(async (error: unknown) => {
    await cells.close();
    throw error;
  });
  const previews = await previewsOf(service, { ...options, token: operatorKey }, { cells, keys, secret });
  const records = new Records(config.values.events.store);
  const requests = new RequestShares(limits);
  const parts = {
    cells,
    checkpoints: new ServiceCheckpoints(cells, saved),
    keys,
    requests,
    records,
    history: new CellHistory(store, cells),
    previews: previews?.links,
    secret,
    url: service.url,
    log,
  };
  const app = createServiceApp({ ...parts, console: options.console }, withBoundHost(options), options.also);
  return {
    app,
    previews,
    async close() {
      await previews?.close();
      await app.close();
      await cells.close();
      await saved.close();
      await webhooks?.close();
      await records.close();
    },
  };
}

function limitsOf(service: ServiceSettings): ServiceLimits & RequestLimits & CheckpointLimits {
  const tenants = Object.entries(service.tenants).map(([name, own]) => [
    name,
    {
      maxCells: own.max_cells,
      startsPerMinute: own.starts_per_minute,
      maxRequests: own.max_requests,
      maxMemoryBytes: own.max_memory_bytes,
      maxCpus: own.max_cpus,
    },
  ]);
  return {
    maxCells: service.max_cells,
    maxCellsPerTenant: service.max_cells_per_tenant,
    maxCheckpointsPerTenant: service.max_checkpoints_per_tenant,
    maxCheckpointBytesPerTenant: service.max_checkpoint_bytes_per_tenant,
    maxRequestsPerTenant: service.max_requests_per_tenant,
    requestsPerSecond: service.requests_per_second_per_key,
    startsAtOnce: service.starts_at_once,
    tenants: Object.fromEntries(tenants),
  };
}

function webhooksOf({ webhooks }: ServiceSettings, log: Log): Webhooks | undefined {
  if (webhooks === undefined) return undefined;
  return new Webhooks({ url: webhooks.url, secret: readToken({ file: webhooks.secret_file }) ?? '' }, log);
}

async function previewsOf(
  { preview_listen, preview_url: url }: ServiceSettings,
  exposure: Exposure,
  parts: { readonly cells: ServiceCells; readonly keys: ServiceKeys; readonly secret: string },
): Promise<PreviewServer | undefined> {
  if (preview_listen === undefined) return undefined;
  const listen = parseListen(preview_listen);
  if ('path' in listen) return undefined;
  checkExposure({ ...exposure, listen });
  return startPreviews({ listen, url, ...parts });
}

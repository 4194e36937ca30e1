/** The contract of cells that a service keeps, on `docker`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Service, startService } from '../../src/service/serve-service.js';
import { contractTests } from '../../src/testing/index.js';
import { dockerEngine, images } from '../engines/docker.js';

const { host: engine } = await dockerEngine();

const directory = mkdtempSync(join(tmpdir(), 'workcell-service-docker-'));
const config = join(directory, 'service.toml');
const apiKey = 'an-operator-key-of-the-test';
let service: Service;

beforeAll(async () => {
  writeFileSync(
    config,
    `
backend = "docker"
[events]
store = "memory"
[service]
store = "sqlite:${join(directory, 'service.db')}"
[service.templates.default]
options = { engine = "${engine}", image = "${images.tools}", volumes = ["${process.execPath}:/usr/local/bin/node:ro"] }
`,
    { mode: 0o600 },
  );
  service = await startService({ listen: { host: '127.0.0.1', port: 0 }, operatorKey: apiKey, config });
});

afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true, force: true });
});

/**
 * The service and docker each pass the whole contract. A test run shows what either could change for the other: streams, input,
 * ends, files, ports; `WHOLE_CONTRACT=1` shows all of it.
 */
const shown: readonly string[] = [
  ...['shell.exit-code', 'shell.sessions', 'shell.killed', 'input.line', 'input.interrupt', 'output.large'],
  ...['output.slow-listener', 'limits.timeout-double-fork', 'limits.cancel', 'files.round-trip'],
  ...['files.watch', 'files.outside', 'transfer.large', 'transfer.zip', 'transfer.broken-archive'],
  ...['processes.bytes', 'processes.signal', 'ports.forward', 'terminals.session', 'env.reaches-shells'],
  ...[
    'stats.figures',
    'runtime.facts',
    'runtime.concurrent',
    'runtime.close-ends-all',
    'runtime.start-aborted',
  ],
  ...['checkpoints.rewind', 'code.state', 'refused.unknown-option'],
];

describe('contract of service, on docker', () => {
  const all = contractTests(
    () => {
      const { port } = service.address as { port: number };
      return { backend: 'service' as const, url: `http://127.0.0.1:${port}`, apiKey };
    },
    { traits: ['limited-tree', 'kernels', 'checkpoints', 'forks'] },
  );
  const chosen = all.filter(({ id }) => process.env.WHOLE_CONTRACT === '1' || shown.includes(id));
  for (const { title, run } of chosen) test(title, run);
});

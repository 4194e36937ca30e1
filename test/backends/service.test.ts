/** The contract of cells that a service keeps, on `sandbox`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type Service, startService } from '../../src/service/serve-service.js';
import { contractSuite } from '../contract/suite.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-service-'));
const config = join(directory, 'service.toml');
const apiKey = 'an-operator-key-of-the-test';
let service: Service;

beforeAll(async () => {
  writeFileSync(
    config,
    `
backend = "sandbox"
[events]
store = "memory"
[service]
store = "sqlite:${join(directory, 'service.db')}"
`,
    { mode: 0o600 },
  );
  service = await startService({ listen: { host: '127.0.0.1', port: 0 }, operatorKey: apiKey, config });
});

afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true, force: true });
});

contractSuite(
  'service, on sandbox',
  () => {
    const { port } = service.address as { port: number };
    return { backend: 'service' as const, url: `http://127.0.0.1:${port}`, apiKey };
  },
  { traits: ['checkpoints', 'forks'] },
);

/** A service that speaks E2B, and what clients need to reach it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { e2bMount } from '../../../src/compat/e2b/e2b-mount.js';
import { type Service, startService } from '../../../src/service/serve-service.js';

export interface E2bService {
  readonly url: string;
  /** What clients get. */
  readonly connection: { readonly apiKey: string; readonly apiUrl: string; readonly sandboxUrl: string };
  close(): Promise<void>;
}

/** `more`: of its configuration. `backend`: of templates that name none. */
export async function startE2bService(more = '', backend = 'sandbox'): Promise<E2bService> {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-e2b-'));
  const config = join(directory, 'service.toml');
  const stores = `
[events]
store = "sqlite:${join(directory, 'events.db')}"
[service]
store = "sqlite:${join(directory, 'service.db')}"
`;
  writeFileSync(config, `backend = "${backend}"\n${stores}${more}`, { mode: 0o600 });
  const apiKey = 'an-operator-key-of-the-test';
  const service: Service = await startService({
    listen: { host: '127.0.0.1', port: 0 },
    operatorKey: apiKey,
    config,
    also: [e2bMount],
  });
  const { port } = service.address as { port: number };
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    connection: { apiKey, apiUrl: url, sandboxUrl: url },
    async close() {
      await service.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

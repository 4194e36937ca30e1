/** A service that speaks E2B, and what clients need to reach it. Each answer of its control API is held to E2B's specification. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { e2bMount } from '../../../src/compat/e2b/e2b-mount.js';
import { type Service, startService } from '../../../src/service/serve-service.js';
import type { ServiceMount } from '../../../src/service/service-app.js';
import { Spec } from '../../backends/vendors/specs/spec-check.js';

export interface E2bService {
  readonly url: string;
  /** What clients get. */
  readonly connection: { readonly apiKey: string; readonly apiUrl: string; readonly sandboxUrl: string };
  /** Fails when an answer had what the specification forbids. */
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
  const forbidden: string[] = [];
  const service: Service = await startService({
    listen: { host: '127.0.0.1', port: 0 },
    operatorKey: apiKey,
    config,
    also: [held(e2bMount, forbidden)],
  });
  const { port } = service.address as { port: number };
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    connection: { apiKey, apiUrl: url, sandboxUrl: url },
    async close() {
      await service.close();
      rmSync(directory, { recursive: true, force: true });
      if (forbidden.length > 0) throw new Error(forbidden.join('\n'));
    },
  };
}

const specification = new Spec('e2b');

/** Published clients use these, and the published specification has them without their version. */
const newer = /^\/v2(?=\/sandboxes\/\w+\/connect$)|^\/v2(?=\/sandboxes$)/;

function held(mount: ServiceMount, forbidden: string[]): ServiceMount {
  return (parts) => {
    const { routes, ...whole } = mount(parts);
    return {
      ...whole,
      routes(scope, place) {
        scope.addHook('onSend', async ({ method, url, headers }, reply, payload) => {
          if (headers['e2b-sandbox-id'] !== undefined) return;
          const [path = ''] = url.split('?');
          const operation = specification.operationOf(
            method,
            method === 'POST' ? path.replace(newer, '') : path,
          );
          if (operation === undefined) return;
          const body: unknown =
            typeof payload === 'string' && payload !== '' ? JSON.parse(payload) : undefined;
          const problem = specification.problemOfAnswer(operation, reply.statusCode, body);
          if (problem !== undefined) forbidden.push(problem);
        });
        routes(scope, place);
      },
    };
  };
}

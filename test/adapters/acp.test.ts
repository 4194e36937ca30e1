import { describe, expect, test } from 'vitest';
import { compile, obstacle, patience, runProgram } from './frameworks.js';

describe.skipIf(obstacle)(obstacle ?? 'with the SDK of the Agent Client Protocol', patience, () => {
  test('an agent works through a client that a runtime serves', () => {
    expect(runProgram('acp-agent.ts')).toEqual({ status: 0, output: '' });
  });

  test('the handlers are those that the SDK declares', () => {
    const source = `
      import { type ClientApp, type ClientRequestHandlersByMethod, client } from '@agentclientprotocol/sdk';
      import type { Runtime } from 'workcell';
      import { type AcpHandlers, acpCapabilities, acpHandlers, serveAcp } from 'workcell/adapters/acp';
      import type { ClientCapabilities } from '@agentclientprotocol/sdk';
      declare const runtime: Runtime;
      export const app: ClientApp = serveAcp(client(), runtime);
      export const capabilities: ClientCapabilities = acpCapabilities;
      export const handlers: Pick<ClientRequestHandlersByMethod, keyof AcpHandlers> = acpHandlers(runtime);`;
    expect(compile(source)).toBe('');
  });
});

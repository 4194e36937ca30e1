/** A service in another network than that of the tests, as its clients use it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceClient } from '../../src/client/index.js';

export interface FarService {
  readonly client: ServiceClient;
  /** What a command prints in a cell. */
  output(cell: string, command: string): Promise<string>;
  close(): void;
}

const relay = `
const [socket, host, port] = process.argv.slice(1);
const net = require('node:net');
net.createServer((near) => {
  const far = net.connect(Number(port), host);
  for (const end of [near, far]) end.on('error', () => { near.destroy(); far.destroy(); });
  near.pipe(far).pipe(near);
}).listen(socket, () => console.log('ready'));`;

/** `networkPid`: a process in that network. */
export async function farService(
  networkPid: number,
  { host, port, apiKey }: { host: string; port: number; apiKey: string },
): Promise<FarService> {
  const folder = mkdtempSync(join(tmpdir(), 'far-'));
  const socket = join(folder, 's');
  const words = ['--pdeathsig', 'KILL', 'nsenter', `--net=/proc/${networkPid}/ns/net`];
  const program = [process.execPath, '--eval', relay, socket, host, String(port)];
  const child = spawn('setpriv', [...words, ...program], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const server = createServer((near) => {
    const far = connect(socket);
    for (const end of [near, far])
      end.on('error', () => {
        near.destroy();
        far.destroy();
      });
    near.pipe(far).pipe(near);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new ServiceClient({ url, apiKey });
  return {
    client,
    async output(cell, command) {
      const response = await fetch(`${client.address(cell)}/v1/actions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ action: 'run', command }),
      });
      const answer = (await response.json()) as { output?: string };
      return answer.output ?? JSON.stringify(answer);
    },
    close() {
      server.close();
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

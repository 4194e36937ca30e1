/** The gateway of a held cell, with an owner that is there and says nothing. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HeldNetwork } from '../../../src/backends/sandbox/keeper/held-network.js';
import { networkRulesSchema } from '../../../src/protocol/network/network-schema.js';
import { EgressGateway } from '../../../src/runtime/network/gateway.js';
import { withDirectory } from '../../cli/workcell.js';

test('so many requests for secrets wait, and no more', () =>
  withDirectory(async (directory) => {
    const gateway = new EgressGateway(networkRulesSchema.parse({}));
    const held = new HeldNetwork(gateway);
    const server = createServer((socket) => {
      socket.on('error', () => {}).setEncoding('utf8');
      held.serve(socket);
    });
    server.listen(join(directory, 's'));
    await once(server, 'listening');
    const owner: Socket = connect(join(directory, 's')).on('error', () => {});
    onTestFinished(() => {
      owner.destroy();
      server.close();
      gateway.close();
    });
    await once(owner, 'data');
    const secret = { name: 'TOKEN', hosts: ['a.test'] };
    const waiting = Array.from({ length: 256 }, () => held.valueOf(secret));
    expect(await held.valueOf(secret)).toBeUndefined();
    owner.destroy();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([undefined]));
  }));

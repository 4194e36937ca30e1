/** Thousands of messages in one piece, delivered so that others have their turn in between. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { Turns } from '../../src/base/turns.js';
import { CellStdioTransport } from '../../src/cell/plugins/mcp/cell-stdio.js';
import type { PluginCell } from '../../src/cell/plugins/plugin.js';

const aTurn = () => new Promise<void>((resolve) => setTimeout(resolve));

test('everything comes, in order, and a timer fires before the end', async () => {
  const source = new PassThrough();
  const heard: number[] = [];
  const turns = new Turns<number>(source, (item) => heard.push(item));
  for (let count = 0; count < 5000; count++) turns.add(count);
  expect(source.isPaused()).toBe(true);
  await aTurn();
  expect(heard.length).toBeLessThan(5000);
  await turns.whenEmpty();
  expect(heard).toEqual(Array.from({ length: 5000 }, (_, index) => index));
  expect(source.isPaused()).toBe(false);
});

test('what is added and forgotten by who hears it counts', async () => {
  const heard: string[] = [];
  const turns: Turns<string> = new Turns<string>(new PassThrough(), (item) => {
    heard.push(item);
    if (item === 'first') turns.add('second');
    if (item === 'second') turns.clear();
  });
  turns.add('first');
  turns.add('between');
  await turns.whenEmpty();
  turns.add('after');
  await turns.whenEmpty();
  expect(heard).toEqual(['first', 'between', 'second', 'after']);
});

test('an MCP server that prints lines without end does not stop its owner', async () => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let end = () => {};
  const exited = new Promise<void>((resolve) => {
    end = resolve;
  });
  const launched = { stdin, stdout, stderr, exited, pid: 1 };
  const cell = { spawn: async () => launched, kill: async () => {} } as unknown as PluginCell;
  const transport = new CellStdioTransport(cell, { command: 'server', args: [], env: {} });
  const heard: string[] = [];
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      heard.push('end');
      resolve();
    };
  });
  transport.onmessage = (message) => heard.push('id' in message ? String(message.id) : '');
  await transport.start();
  stdout.write(`${'7\n'.repeat(5000)}{"jsonrpc":"2.0","id":1,"result":{}}\n`);
  end();
  await aTurn();
  expect(heard).toEqual([]);
  await closed;
  expect(heard).toEqual(['1', 'end']);
});

/** Output without end to readers that are slow or do not read at all: what it adds to the memory of a server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { startExecutorProcess } from '../../bench/lines/http/server.js';
import type { Report } from './report.js';

const mebibyte = 1024 * 1024;

/** A server may grow by this much. */
const slack = 64;

const lines = "yes 'a line of some length, again and again'";

/** How much a slow reader takes before it rests. */
const sipBytes = 4 * mebibyte;

export async function soakEndless({ bytes }: { bytes: number }): Promise<Report> {
  const title = `${Math.round(bytes / mebibyte)} MiB of output to slow and to absent readers, MiB of the server`;
  return { title, rows: [await ownProtocol(bytes), await openHands(bytes)] };
}

/** The native API: one reader takes all of it slowly while others take nothing. */
async function ownProtocol(bytes: number): Promise<Report['rows'][number]> {
  await using server = await startExecutorProcess();
  const { hostname, port } = new URL(server.url);
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
  const execute = async (action: object) => {
    const body = JSON.stringify(action);
    return (await fetch(`${server.url}/v1/actions`, { method: 'POST', headers, body })).json();
  };
  await execute({ action: 'run', command: 'true' });
  const before = beginPeak(server.child);
  const idle = ['one', 'two'].map((session) => {
    const socket = connect(Number(port), hostname).pause();
    const content = JSON.stringify({ action: 'run', command: lines, session });
    socket.write(
      `POST /v1/actions HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${headers.authorization}\r\nAccept: application/x-ndjson\r\nContent-Type: application/json\r\nContent-Length: ${content.length}\r\n\r\n${content}`,
    );
    return socket;
  });
  const asking = request(`${server.url}/v1/actions`, {
    method: 'POST',
    headers: { ...headers, accept: 'application/vnd.workcell.frames' },
  });
  // A process, because a terminal takes ten times as long.
  const { id } = (await execute({
    action: 'start_process',
    command: `${lines} | head -c ${bytes}`,
  })) as { id: string };
  asking.end(JSON.stringify({ action: 'wait_process', id, maxOutputBytes: 65_536 }));
  const [answer] = (await once(asking, 'response')) as [AsyncIterable<Buffer>];
  let [received, rested] = [0, 0];
  for await (const chunk of answer) {
    received += chunk.length;
    if (received - rested < sipBytes) continue;
    rested = received;
    await setTimeout(1);
  }
  if (received < bytes) throw new Error(`Only ${received} of ${bytes} bytes came.`);
  const row = { name: 'native API', before, after: peak(server.child), slack };
  for (const socket of idle) socket.destroy();
  return row;
}

/** The OpenHands agent-server, whose readers hold nothing back. */
async function openHands(bytes: number): Promise<Report['rows'][number]> {
  const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
  const options = ['openhands-agent-server', '--backend', 'cli', '--port', '0'];
  const child = spawn(process.execPath, ['--import', 'tsx', main, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let said = '';
    while (!/session key: \S+\n/.test(said) || !/listening on \S+\n/.test(said))
      said += String((await once(child.stdout, 'data'))[0]);
    const url = /listening on (\S+)/.exec(said)?.[1] ?? '';
    const key = /session key: (\S+)/.exec(said)?.[1] ?? '';
    const sockets = ['slow', 'absent'].map(
      () => new WebSocket(`${url.replace('http', 'ws')}/sockets/bash-events?session_api_key=${key}`),
    );
    await Promise.all(sockets.map((socket) => once(socket, 'open')));
    const [slow, absent] = sockets as [WebSocket, WebSocket];
    absent.pause();
    const ended = new Promise<void>((resolve) => {
      slow.on('message', (data: Buffer) => {
        if (/"exit_code":\d/.test(data.toString('latin1', 0, 400))) return resolve();
        slow.pause();
        void setTimeout(20).then(() => slow.resume());
      });
    });
    const before = beginPeak(child);
    slow.send(JSON.stringify({ command: `${lines} | head -c ${bytes}`, timeout: 3600 }));
    await ended;
    const row = { name: 'OpenHands V1', before, after: peak(child), slack };
    for (const socket of sockets) socket.terminate();
    return row;
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

/** Makes the kernel watch the memory of a process from now on. Returns its current memory. */
function beginPeak(child: ChildProcess): number {
  writeFileSync(`/proc/${child.pid}/clear_refs`, '5');
  return peak(child);
}

/** The most memory that the process has had, in MiB. */
function peak({ pid }: ChildProcess): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kibibytes) / 1024;
}

/** What a server stands: readers that do not read, a thousand connections, and requests all at once. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExecutorProcess, startExecutorProcess } from '../../bench/lines/http/server.js';
import { createRuntime } from '../../src/index.js';

const mebibyte = 1024 * 1024;
let server: ExecutorProcess;
beforeAll(async () => {
  server = await startExecutorProcess();
});
afterAll(() => server[Symbol.asyncDispose]());

const endless = {
  'a shell command': {
    action: 'run',
    command: "yes 'a line of some length, again and again'",
    session: 'endless',
  },
  'a process': { action: 'start_process', command: "yes 'a line of some length, again and again'" },
};

test.each(Object.keys(endless))(
  'endless output of %s to a client that does not read costs no memory',
  async (kind) => {
    await using runtime = await createRuntime({ backend: 'remote', url: server.url, token: server.token });
    await runtime.run('true');
    const before = resident();
    const sockets: Socket[] = [];
    for (let index = 0; index < 4; index++) {
      let action: object = { ...endless['a shell command'], session: `endless-${index}` };
      if (kind === 'a process') {
        const { id } = await runtime.processes.start("yes 'a line of some length, again and again'");
        action = { action: 'wait_process', id };
      }
      sockets.push(await ask(action));
    }
    let highest = before;
    for (let second = 0; second < 8; second++) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      highest = Math.max(highest, resident());
      // The server serves others all the while.
      expect((await runtime.run('echo served')).output).toBe('served\n');
    }
    expect((highest - before) / mebibyte).toBeLessThan(64);
    for (const socket of sockets) socket.destroy();
  },
);

test('endless output to a client that reads slowly costs no memory', async () => {
  await using runtime = await createRuntime({ backend: 'remote', url: server.url, token: server.token });
  await runtime.run('true');
  const before = resident();
  const stop = new AbortController();
  let received = 0;
  const running = runtime.run("yes 'a line of some length, again and again'", {
    signal: stop.signal,
    onOutput: async ({ text }) => {
      received += text.length;
      await new Promise((resolve) => setTimeout(resolve, 5));
    },
  });
  let highest = before;
  for (let second = 0; second < 6; second++) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    highest = Math.max(highest, resident());
  }
  stop.abort();
  expect(await running).toMatchObject({ endedBy: 'cancelled' });
  expect(received).toBeGreaterThan(100_000);
  expect((highest - before) / mebibyte).toBeLessThan(64);
});

test('a thousand connections are open at once, each is answered, and all go', async () => {
  const sockets = await Promise.all(Array.from({ length: 1000 }, () => open()));
  const request = `GET /alive HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(
      sockets.map(async (socket) => {
        socket.write(request);
        const [data] = await once(socket, 'data');
        return String(data).split('\r\n')[0];
      }),
    );
    expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 200 OK']));
  }
  for (const socket of sockets) socket.destroy();
});

test('a thousand actions at once are all carried out', async () => {
  await using runtime = await createRuntime({ backend: 'remote', url: server.url, token: server.token });
  const names = Array.from({ length: 1000 }, (_, index) => `file-${index}`);
  await Promise.all(names.map((name) => runtime.write(name, name)));
  const contents = await Promise.all(names.map(async (name) => (await runtime.read(name)).content));
  expect(contents).toEqual(names);
});

/** Sends an action for its lines and reads nothing of the answer. */
async function ask(action: object): Promise<Socket> {
  const socket = await open();
  const body = JSON.stringify(action);
  socket.pause();
  socket.write(
    `POST /v1/actions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\nAccept: application/x-ndjson\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return socket;
}

async function open(): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

function resident(): number {
  const pages = readFileSync(`/proc/${server.child.pid}/statm`, 'utf8').split(' ')[1];
  return Number(pages) * 4096;
}

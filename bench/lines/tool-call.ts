import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, tool } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const parameters = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
};

export default defineLine({
  name: 'tool-call',
  summary:
    'a warm tool in a sandbox, events in memory; floor: the same function in a bare process on a Unix socket',

  async measure() {
    await using runtime = await createRuntime({
      config: false,
      backend: 'sandbox',
      events: { store: 'memory' },
    });
    await using recorded = await createRuntime({ config: false, backend: 'sandbox' });
    const add = tool({
      name: 'add',
      description: '',
      parameters,
      execute: ({ a, b }) => Number(a) + Number(b),
    });
    const wait = tool({
      name: 'wait',
      description: '',
      execute: () => new Promise((resolve) => setTimeout(resolve, 100)),
    });
    const [adds, waits] = runtime.add([add, wait]).getTools();
    const [durable] = recorded.add(add).getTools();
    await using bare = await bareProcess();
    const timings = await interleave(
      {
        'tool call': () => adds?.execute({ a: 1, b: 2 }),
        'with a durable record': () => durable?.execute({ a: 1, b: 2 }),
        'bare socket': () => bare.ask({ a: 1, b: 2 }),
      },
      { rounds: 3000, warmup: 300 },
    );
    const crowd = await interleave(
      { '200 calls of 100 ms': () => Promise.all(Array.from({ length: 200 }, () => waits?.execute({}))) },
      { rounds: 5, warmup: 1 },
    );
    const { p50 } = timings['tool call'];
    return {
      timings: { ...timings, ...crowd },
      floor: 'bare socket',
      figures: [
        {
          name: 'p50, recorded',
          value: timings['with a durable record'].p50,
          unit: 'ms',
          better: 'less',
          bar: 1.5,
        },
        { name: 'of the floor', value: p50 / timings['bare socket'].p50, unit: '×', better: 'less', bar: 3 },
        {
          name: '200 at once',
          value: crowd['200 calls of 100 ms'].p50,
          unit: 'ms',
          better: 'less',
          bar: 500,
        },
      ],
    };
  },
});

/** Adds two numbers that come as a line of JSON, in another process. */
const program = `
  const socket = require('node:net').connect(process.argv[1]);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
    const end = text.indexOf('\\n');
    if (end === -1) return;
    const { a, b } = JSON.parse(text.slice(0, end));
    text = text.slice(end + 1);
    socket.write(JSON.stringify(a + b) + '\\n');
  });`;

async function bareProcess(): Promise<{ ask(input: object): Promise<unknown> } & AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-tool-'));
  const server = createServer().listen(join(folder, 'socket'));
  await once(server, 'listening');
  const child: ChildProcess = spawn(process.execPath, ['-e', program, join(folder, 'socket')]);
  const [socket] = (await once(server, 'connection')) as [Socket];
  return {
    async ask(input) {
      socket.write(`${JSON.stringify(input)}\n`);
      const [line] = await once(socket, 'data');
      return JSON.parse(String(line));
    },
    async [Symbol.asyncDispose]() {
      socket.destroy();
      server.close();
      child.kill('SIGKILL');
      await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

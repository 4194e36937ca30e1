/**
 * Runs JavaScript tools in a cell. It connects to the socket that its arguments name and shows the token from its
 * input. Frames are JSON after their length in four bytes. A module that it has to install exports `open(arguments)`,
 * which returns the tools by name, each as `(input, context) => outcome`; they keep their state between calls.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { pathToFileURL } from 'node:url';

const [socketPath, options] = process.argv.slice(2);
const { workspace, captureBytes, streamBytes } = JSON.parse(options);
const token = readFileSync(0, 'utf8');
const running = new AsyncLocalStorage();
const calls = new Map();
const kits = new Map();
const asked = new Map();
let requests = 0;

const socket = connect(socketPath);
socket.on('error', () => process.exit(0));
socket.on('close', () => process.exit(0));

function sendText(text) {
  const length = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(4 + length);
  bytes.writeUInt32BE(length);
  bytes.write(text, 4);
  socket.write(bytes);
}

function send(message) {
  sendText(JSON.stringify(message));
}

const words = (error) => (error instanceof Error ? error.message : String(error));

class Printed {
  head = '';
  tail = '';
  total = 0;
  #decoder;

  add(chunk) {
    const text = typeof chunk === 'string' ? chunk : this.#decode(chunk);
    this.total += text.length;
    const room = captureBytes / 2 - this.head.length;
    if (room > 0) this.head += text.slice(0, room);
    if (text.length > room) {
      this.tail +=
        room > 0 ? text.slice(room) : text.length > captureBytes ? text.slice(-captureBytes) : text;
      if (this.tail.length > 4 * captureBytes) this.tail = this.tail.slice(-captureBytes / 2);
    }
    return text;
  }

  /** A character may arrive in two pieces. */
  #decode(chunk) {
    this.#decoder ??= new StringDecoder('utf8');
    return this.#decoder.write(Buffer.from(chunk));
  }

  text() {
    const tail = this.tail.slice(-captureBytes / 2);
    const missing = this.total - this.head.length - tail.length;
    return missing > 0 ? `${this.head}\n[... ${missing} bytes left out ...]\n${tail}` : this.head + tail;
  }
}

class Call {
  stop = new AbortController();
  stdout = new Printed();
  stderr = new Printed();
  streamed = 0;

  constructor(id, stream) {
    this.id = id;
    this.stream = stream;
    calls.set(id, this);
  }

  get open() {
    return calls.get(this.id) === this;
  }

  print(stream, chunk) {
    if (!this.open) return;
    const text = this[stream].add(chunk);
    if (!this.stream || this.streamed > streamBytes) return;
    this.streamed += text.length;
    send({ type: 'output', id: this.id, stream, text });
  }

  end(outcome) {
    if (!this.open) return;
    calls.delete(this.id);
    const { stdout, stderr } = this;
    const printed = {
      stdout: stdout.text(),
      stderr: stderr.text(),
      truncated: Math.max(stdout.total, stderr.total) > captureBytes,
    };
    if (outcome.json === undefined)
      return send({ type: 'error', id: this.id, error: outcome.error, ...printed });
    const head = JSON.stringify({ type: 'result', id: this.id, ...printed });
    sendText(`${head.slice(0, -1)},"result":${outcome.json}}`);
  }

  fail(code, message, details) {
    this.end({ error: { code, message, details } });
  }

  context() {
    const { stop } = this;
    return {
      get signal() {
        return stop.signal;
      },
      log: (message) =>
        this.open && send({ type: 'log', id: this.id, message: String(message).slice(0, 65536) }),
      progress: (value) => this.progress(value),
      runtime: { workspace, execute: (action, { signal } = {}) => this.execute(action, signal) },
    };
  }

  progress(value) {
    const text = JSON.stringify({ type: 'progress', id: this.id, value: value === undefined ? null : value });
    if (text.length > 1048576) throw new Error('Progress is larger than 1 MiB; tell less.');
    if (this.open) sendText(text);
  }

  execute(action, signal) {
    if (!this.open)
      return Promise.reject(new Error('The call has ended, so its runtime can no longer be used.'));
    const request = ++requests;
    return new Promise((resolve, reject) => {
      asked.set(request, { resolve, reject });
      send({ type: 'execute', id: this.id, request, action });
      signal?.addEventListener('abort', () => send({ type: 'abandon', request }), { once: true });
    });
  }
}

for (const stream of ['stdout', 'stderr']) {
  const write = process[stream].write.bind(process[stream]);
  process[stream].write = (chunk, encoding, callback) => {
    const call = running.getStore();
    if (call === undefined) return write(chunk, encoding, callback);
    call.print(stream, chunk);
    const done = typeof encoding === 'function' ? encoding : callback;
    if (done) process.nextTick(done);
    return true;
  };
}

const handle = {
  async install({ id, key, file, arguments: given }) {
    try {
      const { open } = await import(pathToFileURL(file).href);
      const tools = await open(given);
      kits.set(key, tools);
      send({ type: 'installed', id, tools: [...tools.keys()] });
    } catch (error) {
      send({
        type: 'refused',
        id,
        code: error?.code === 'invalid-tool' ? 'invalid-tool' : 'tool-failed',
        message: words(error),
      });
    }
  },
  call({ id, key, tool, arguments: input, stream }) {
    const call = new Call(id, stream);
    const execute = kits.get(key)?.get(tool);
    if (execute === undefined) return call.fail('tool-not-found', `The tool host has no tool "${tool}".`);
    running.run(call, () => {
      execute(input, call.context()).then(
        (outcome) => call.end(outcome),
        (error) => call.fail('tool-failed', words(error)),
      );
    });
  },
  cancel({ id, reason }) {
    const call = calls.get(id);
    call?.stop.abort(new Error(reason));
    call?.fail(reason, 'ended');
  },
  answer({ request, observation, error }) {
    const { resolve, reject } = asked.get(request) ?? {};
    asked.delete(request);
    if (error === undefined) resolve?.(observation);
    else
      reject?.(
        Object.assign(new Error(error.message), {
          name: 'WorkcellError',
          code: error.code,
          details: error.details,
        }),
      );
  },
};

// Work that a tool left behind may fail later; that is no reason to end the others. While its call is open, the call
// fails.
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => {
    const call = running.getStore();
    if (call !== undefined) call.fail('tool-failed', words(error), { name: error?.name ?? typeof error });
  });
}

let chunks = [];
let held = 0;
let wanted = 4;
socket.on('data', (chunk) => {
  chunks.push(chunk);
  held += chunk.length;
  if (held < wanted) return;
  let data = chunks.length === 1 ? chunk : Buffer.concat(chunks, held);
  while (data.length >= 4) {
    wanted = 4 + data.readUInt32BE(0);
    if (data.length < wanted) break;
    const message = JSON.parse(data.toString('utf8', 4, wanted));
    data = data.subarray(wanted);
    wanted = 4;
    handle[message.type](message);
  }
  chunks = data.length === 0 ? [] : [data];
  held = data.length;
});
send({ type: 'hello', token });

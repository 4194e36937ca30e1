/** An interpreter in a process of its own that keeps what code defined: Python or JavaScript. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** Both read JSON lines from descriptor 3 and answer on 4, so that what code prints goes its own way. */
const programs = {
  python: [
    'python3',
    '-u',
    '-c',
    `import ast, json, os, sys, traceback
requests, answers = os.fdopen(3, 'r'), os.fdopen(4, 'w')
scope = {'__name__': '__main__'}
for line in requests:
    value = error = None
    try:
        tree = ast.parse(json.loads(line)['code'], '<cell>')
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, '<cell>', 'exec'), scope)
        if last is not None:
            result = eval(compile(ast.Expression(last.value), '<cell>', 'eval'), scope)
            value = None if result is None else repr(result)
    except BaseException:
        error = traceback.format_exc()
    sys.stdout.flush(); sys.stderr.flush()
    answers.write(json.dumps({'value': value, 'error': error}) + '\\n'); answers.flush()`,
  ],
  javascript: [
    process.execPath,
    '-e',
    `const { createInterface } = require('node:readline');
const { createReadStream, writeSync } = require('node:fs');
const { inspect } = require('node:util');
const vm = require('node:vm');
const scope = vm.createContext(Object.assign(Object.create(null), { console, require, process, Buffer, setTimeout, clearTimeout, fetch, URL }));
(async () => {
  for await (const line of createInterface({ input: createReadStream(null, { fd: 3 }) })) {
    let value = null, error = null;
    try {
      const result = await vm.runInContext(JSON.parse(line).code, scope, { filename: 'cell' });
      value = result === undefined ? null : inspect(result);
    } catch (thrown) { error = thrown instanceof Error || thrown?.stack ? thrown.stack : inspect(thrown); }
    writeSync(4, JSON.stringify({ value, error }) + '\\n');
  }
})();`,
  ],
} as const;

const longestOutput = 1024 * 1024;

export interface CodeResult {
  readonly output: string;
  /** The value of the last expression, as the language shows it. */
  readonly value: string | null;
  /** The traceback, when the code failed. */
  readonly error: string | null;
}

export class Interpreter {
  readonly #language: keyof typeof programs;
  readonly #cwd: string;
  #child: ChildProcess | undefined;
  #answers: AsyncIterator<string> | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(language: keyof typeof programs, cwd: string) {
    this.#language = language;
    this.#cwd = cwd;
  }

  run(code: string, signal: AbortSignal): Promise<CodeResult> {
    const turn = this.#queue.then(() => this.#run(code, signal));
    this.#queue = turn.catch(() => {});
    return turn;
  }

  async #run(code: string, signal: AbortSignal): Promise<CodeResult> {
    const child = this.#child ?? this.#start();
    let output = '';
    const take = (chunk: Buffer) => {
      if (output.length < longestOutput) output += chunk.toString('utf8');
    };
    const [, stdout, stderr, requests] = child.stdio as [unknown, Readable, Readable, Writable, Readable];
    const stop = () => child.kill('SIGKILL');
    stdout.on('data', take);
    stderr.on('data', take);
    signal.addEventListener('abort', stop, { once: true });
    try {
      requests.write(`${JSON.stringify({ code })}\n`);
      const answer = await this.#answers?.next();
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      if (answer === undefined || answer.done) {
        this.#child = undefined;
        return { output, value: null, error: 'The interpreter ended; what it had defined is gone.' };
      }
      const { value, error } = JSON.parse(answer.value) as { value: string | null; error: string | null };
      return { output, value, error };
    } finally {
      signal.removeEventListener('abort', stop);
      stdout.off('data', take);
      stderr.off('data', take);
      if (signal.aborted) this.#child = undefined;
    }
  }

  #start(): ChildProcess {
    const [program, ...args] = programs[this.#language];
    const child = spawn(program, args, { cwd: this.#cwd, stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'] });
    for (const stream of child.stdio) stream?.on('error', () => {});
    child.on('error', () => {});
    const lines = createInterface({ input: child.stdio[4] as Readable });
    this.#answers = lines[Symbol.asyncIterator]();
    this.#child = child;
    return child;
  }
}

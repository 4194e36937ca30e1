/** `workcell run` with something piped into it: a process that reads this program's standard input. */
import type { Runtime } from '../index.js';
import { WorkcellError } from '../protocol/errors.js';
import { exitCodeOf } from './command-exit-code.js';
import { openOutput } from './command-output.js';
import { explain, hint, type RunCommandOptions } from './commands/run-command.js';
import type { Interrupts } from './interrupts.js';

type Options = Pick<RunCommandOptions, 'cwd' | 'env' | 'timeout'>;

/** Returns the exit code. */
export async function runPiped(
  runtime: Runtime,
  command: string,
  { cwd, env, timeout: timeoutMs }: Options,
  interrupts: Interrupts,
): Promise<number> {
  const { processes } = runtime;
  const { signal } = interrupts;
  const onBroken = () => interrupts.abort(141);
  const outputs = { stdout: openOutput(onBroken), stderr: openOutput(onBroken, process.stderr) };
  const { id } = await processes.start(command, { cwd, env, timeoutMs, keepStdin: true });
  const kill = () => processes.signal(id, 'SIGKILL').catch(() => {});
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) await kill();
  interrupts.forward(() => processes.signal(id, 'SIGINT'));
  const broken = new AbortController();
  const feeding = feed(runtime, id, (error) => broken.abort(error));
  try {
    const ended = await processes.wait(id, {
      maxOutputBytes: 256,
      signal: broken.signal,
      onOutput: ({ stream, text }) => outputs[stream === 'stderr' ? 'stderr' : 'stdout'].write({ text }),
    });
    explain(ended);
    hint(runtime, ended, `${outputs.stdout.tail()}${outputs.stderr.tail()}`);
    return interrupts.exitCode() ?? exitCodeOf(ended);
  } catch (error) {
    // Without the rest of its input the command would wait for ever, or take a part for the whole.
    if (broken.signal.aborted) await kill();
    throw broken.signal.aborted ? broken.signal.reason : error;
  } finally {
    for (const output of Object.values(outputs)) output.end();
    feeding.stop();
    signal.removeEventListener('abort', kill);
  }
}

/** Passes standard input on, no faster than the command takes it; a command that stops reading is no failure. */
function feed({ processes }: Runtime, id: string, onFailure: (error: unknown) => void): { stop(): void } {
  const { stdin } = process;
  const encoding = 'base64';
  let stopped = false;
  const pass = async () => {
    for await (const chunk of stdin)
      await processes.write(id, (chunk as Buffer).toString(encoding), { encoding, record: 'size' });
    await processes.write(id, '', { end: true });
  };
  const stop = () => {
    stopped = true;
    stdin.destroy();
  };
  pass().catch((error: unknown) => {
    if (!stopped && !isClosedInput(error)) onFailure(error);
    stop();
  });
  return { stop };
}

/** The command closed its standard input, or has ended. */
function isClosedInput(error: unknown): boolean {
  return WorkcellError.isInstance(error) && error.code === 'invalid-action';
}

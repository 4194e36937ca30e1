/** Ways to do something inside a cell and to look at the result. */
import { type Observation, type RunOptions, type Runtime, WorkcellError } from '../../index.js';
import { Breach, demand } from './case.js';

const defaultTimeoutMs = 20_000;

/** Runs a command. Returns its output, whether or not it succeeded. */
export async function run(
  runtime: Runtime,
  command: string,
  options: RunOptions = {},
): Promise<Observation<'run'>> {
  return runtime.run(command, { timeoutMs: defaultTimeoutMs, ...options });
}

/** Runs a permitted command, which must succeed. Returns its output. */
export async function permitted(
  runtime: Runtime,
  command: string,
  options: RunOptions = {},
): Promise<string> {
  const { exitCode, endedBy, output } = await run(runtime, command, options);
  if (exitCode !== 0)
    throw new Error(`"${command}" ended by ${endedBy} with ${exitCode}: ${output.slice(-300)}`);
  return output;
}

/** The plainest neighbour: an ordinary command in a new session. */
export async function stillWorks(runtime: Runtime): Promise<void> {
  const output = await permitted(runtime, 'echo works > note && cat note', { session: 'neighbour' });
  if (output !== 'works\n') throw new Error(`An ordinary command printed ${JSON.stringify(output)}.`);
}

/** A program on pipes, to its end. */
export async function finish(
  runtime: Runtime,
  argv: readonly string[],
  options: { timeoutMs?: number; env?: Record<string, string> } = {},
): Promise<Observation<'wait_process'>> {
  const { id } = await runtime.processes.start(argv, { timeoutMs: defaultTimeoutMs, ...options });
  return runtime.processes.wait(id);
}

/** Runs Python in the cell. The source calls `answer(value)` once; the value comes back. */
export async function python<Value>(
  runtime: Runtime,
  source: string,
  options: { timeoutMs?: number } = {},
): Promise<Value> {
  const { stdout, stderr, endedBy } = await finish(
    runtime,
    ['python3', '-c', `${prelude}\n${source}`],
    options,
  );
  try {
    return JSON.parse(stdout) as Value;
  } catch {
    throw new Error(`The probe gave no answer (${endedBy}): ${(stdout + stderr).slice(-300)}`);
  }
}

/** Expects a refusal with a code. Returns the code. */
export async function refusal(what: string, promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (WorkcellError.isInstance(error) && error.code !== 'internal') return error.code;
    throw new Breach(`${what} failed without a clear error: ${String(error).slice(0, 200)}`);
  }
  throw new Breach(`${what} was not refused`);
}

/** Demands that the cell refused every call. Returns how, in short. */
export function allRefused(outcomes: Readonly<Record<string, string>>): string {
  const entries = Object.entries(outcomes);
  const wrong = entries.filter(([, outcome]) => !refusals.has(outcome));
  demand(
    wrong.length === 0,
    `not refused: ${wrong.map(([name, outcome]) => `${name} (${outcome})`).join(', ')}`,
  );
  return `${entries.length} tried, all refused (${[...new Set(entries.map(([, outcome]) => outcome))].join(', ')})`;
}

/** Answers of a kernel that did not look at the request any further. Any other error means that it did. */
const refusals = new Set([
  'EPERM',
  'EACCES',
  'EROFS',
  'ENOSYS',
  'EOPNOTSUPP',
  'EAFNOSUPPORT',
  'EPROTONOSUPPORT',
  'ESOCKTNOSUPPORT',
]);

const prelude = `
import ctypes, errno, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
errno.errorcode[errno.EOPNOTSUPP] = "EOPNOTSUPP"
def answer(value):
    sys.stdout.write(json.dumps(value)); sys.stdout.flush(); os._exit(0)
def outcome(attempt):
    try:
        attempt()
        return "ok"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))
def column(): return 1 if os.uname().machine == "aarch64" else 0
def call(numbers, *arguments):
    values = [ctypes.c_char_p(a) if isinstance(a, bytes) else ctypes.c_long(a) for a in arguments]
    ctypes.set_errno(0)
    if libc.syscall(ctypes.c_long(numbers[column()]), *values) == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
`;

/** Whole Python scripts of this machine, run in the cell. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Observation, WorkcellError } from '../../protocol/index.js';
import { RuntimeProcesses } from '../runtime-processes.js';
import type { Call, OutputListener, OwnVerbs } from '../verb-call.js';

interface PythonFileOptions {
  args?: readonly string[] | undefined;
  env?: Record<string, string> | undefined;
  /** Default: the workspace. */
  cwd?: string | undefined;
  timeoutMs?: number | undefined;
  /** Receives output as it comes, standard output and standard error apart. */
  onOutput?: OutputListener | undefined;
  /** Ends the script. */
  signal?: AbortSignal | undefined;
}

export interface PythonVerbs {
  /** Runs a whole Python script of this machine in the cell and passes its output on as it comes. */
  execPythonFile(file: string, options?: PythonFileOptions): Promise<Observation<'wait_process'>>;
}

export const pythonVerbs: OwnVerbs<PythonVerbs> = {
  execPythonFile: (runtime) => (file, options) => execPythonFile(runtime, file, options),
};

const place = 'mkdir -m 700 -- "$1" && cat > "$1/$2"';

/** Uses the cell's preset Python, or else the first on PATH. */
const execute = 'exec "${PYTHON_EXECUTABLE:-python3}" "$@"';

/** A script that fails is a result, not an error. */
async function execPythonFile(
  call: Call,
  file: string,
  options: PythonFileOptions = {},
): Promise<Observation<'wait_process'>> {
  const source = await readScript(file);
  const { args = [], cwd, env } = options;
  const asked = { name: basename(file), code: source.toString(), args, cwd, env };
  return call.perform({ action: 'run_python_file', ...asked }, (steps) =>
    runScript(new RuntimeProcesses(steps), basename(file), source, options),
  );
}

async function runScript(
  processes: RuntimeProcesses,
  name: string,
  source: Buffer,
  options: PythonFileOptions,
): Promise<Observation<'wait_process'>> {
  const { args = [], onOutput, signal, ...rest } = options;
  const directory = `/tmp/workcell-script-${randomBytes(8).toString('hex')}`;
  const shell = async (script: string, words: readonly string[], stdin?: string) => {
    const given = stdin === undefined ? {} : { stdin, encoding: 'base64' as const };
    const { id } = await processes.start(['sh', '-c', script, 'sh', ...words], given);
    return processes.wait(id);
  };
  const placed = await shell(place, [directory, name], source.toString('base64'));
  if (placed.exitCode !== 0) {
    throw new WorkcellError(
      'disk-full',
      `Workcell cannot copy the script ${name} into the cell: ${placed.stderr.trim()}.`,
    );
  }
  try {
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
    const { id } = await processes.start(['sh', '-c', execute, 'sh', `${directory}/${name}`, ...args], given);
    const stop = () => void processes.signal(id, 'SIGKILL').catch(() => {});
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    try {
      return await processes.wait(id, onOutput === undefined ? {} : { onOutput });
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  } finally {
    await shell('rm -rf -- "$1"', [directory]);
  }
}

async function readScript(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw cause;
    throw new WorkcellError(
      'not-found',
      `The script ${file} does not exist on this machine. Check its path.`,
      {
        details: { file },
        cause,
      },
    );
  }
}

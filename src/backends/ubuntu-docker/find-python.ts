/** The Python of a cell: which one it is, and what its programs find preset. */
import { z } from 'zod';
import { readUntrustedJson } from '../../base/untrusted-json.js';
import { type Executor, WorkcellError } from '../../protocol/index.js';
import { satisfies } from './version-demand.js';

const foundSchema = z.object({ executable: z.string(), version: z.string(), packages: z.string() });

export type FoundPython = z.infer<typeof foundSchema>;

const question =
  'import json, sys, sysconfig; print(json.dumps({"executable": sys.executable, "version": "%d.%d.%d" % sys.version_info[:3], "packages": sysconfig.get_paths()["purelib"]}))';

/** Undefined when there is no such program in the cell. */
export async function findPython(executor: Executor, program: string): Promise<FoundPython | undefined> {
  try {
    const { id } = await executor.execute<'start_process'>({
      action: 'start_process',
      argv: [program, '-c', question],
      encoding: 'utf8',
      timeoutMs: 30_000,
    });
    const { stdout } = await executor.execute<'wait_process'>({
      action: 'wait_process',
      id,
      encoding: 'utf8',
      maxOutputBytes: 4096,
      stdoutFrom: 0,
      stderrFrom: 0,
    });
    return foundSchema.safeParse(readUntrustedJson(stdout)).data;
  } catch {
    return undefined;
  }
}

export function checkVersion(image: string, { version }: FoundPython, demand: string): void {
  if (satisfies(version, demand)) return;
  throw new WorkcellError(
    'image-unsuitable',
    `The image "${image}" has Python ${version}, and you demand ${demand}. Use another image, or name another Python in it as pythonPath.`,
    { details: { image, version, demand } },
  );
}

/** Leaves variables alone that the caller sets. */
export async function presetPython(
  executor: Executor,
  { executable, packages }: FoundPython,
  given: Readonly<Record<string, string>>,
): Promise<void> {
  const preset = {
    PYTHON_EXECUTABLE: executable,
    PYTHON_PATH: executable,
    PYTHONPATH: packages,
    PYTHONUNBUFFERED: '1',
  };
  const variables = Object.fromEntries(Object.entries(preset).filter(([name]) => !(name in given)));
  await executor.execute<'set_env'>({ action: 'set_env', variables });
}

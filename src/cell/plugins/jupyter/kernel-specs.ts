/** Which kernels a cell has installed, and how to start each. */
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { readUntrustedJson } from '../../../base/untrusted-json.js';
import { WorkcellError } from '../../../protocol/index.js';
import type { PluginCell } from '../plugin.js';

export interface KernelSpec {
  readonly name: string;
  readonly language: string;
  readonly displayName: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly interrupt: 'signal' | 'message';
}

const specSchema = z.object({
  argv: z.array(z.string()).min(1),
  display_name: z.string().default(''),
  language: z.string().default(''),
  interrupt_mode: z.enum(['signal', 'message']).default('signal'),
  env: z.record(z.string(), z.string()).default({}),
});

/**
 * Goes through each kernel.json in the places where Jupyter itself looks: the directories that the user named, the
 * user's own, those of the first Python, those of the system.
 */
const eachFile = (body: string) => `
python=$(command -v python3)
IFS=:
for place in $JUPYTER_PATH "\${JUPYTER_DATA_DIR:-$HOME/.local/share/jupyter}" "\${python%/bin/python3}/share/jupyter" /usr/local/share/jupyter /usr/share/jupyter; do
  for file in "$place"/kernels/*/kernel.json; do
    [ -f "$file" ] && [ "$(wc -c <"$file")" -lt 65536 ] && ${body}
  done
done`;

/** Prints each with its path before it. */
const printFiles = `${eachFile(`printf '%s\\0' "$file" && cat "$file" && printf '\\0'`)}\nexit 0`;

/** Succeeds for a Python with ipykernel. A start of Python is slow, so it comes last and only where it decides. */
const askPython = `[ -n "$python" ] && "$python" -c 'import ipykernel_launcher' 2>/dev/null`;

/** Prints the path of that Python. */
const printPython = `python=$(command -v python3)\n${askPython} && printf '%s\\0\\0' "$python"\nexit 0`;

/** More than all specifications of any machine together. */
const limitBytes = 4 * 1024 * 1024;

/** A program that succeeds when a kernel is installed. */
export const kernelCheck: readonly string[] = ['sh', '-c', `${eachFile('exit 0')}\n${askPython}`];

export async function findKernelSpecs(cell: PluginCell): Promise<KernelSpec[]> {
  const specs = new Map<string, KernelSpec>();
  const add = (words: readonly string[]) => {
    for (let at = 0; at + 1 < words.length; at += 2) {
      const spec = readSpec(words[at] as string, words[at + 1] as string);
      if (spec !== undefined && !specs.has(spec.name)) specs.set(spec.name, spec);
    }
  };
  add(await printedWords(cell, printFiles));
  if (!specs.has(ownName)) add(await printedWords(cell, printPython));
  return [...specs.values()];
}

async function printedWords(cell: PluginCell, script: string): Promise<string[]> {
  const { stdin, stdout, stderr } = await cell.spawn(['sh', '-c', script]);
  stdin.on('error', () => {});
  stdin.end();
  stderr.resume();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdout as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limitBytes) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8').split('\0');
}

/** The kernel for a language: one of that name, else the first for that language. */
export function chooseSpec(specs: readonly KernelSpec[], language: string): KernelSpec {
  const wanted = aliases[language.toLowerCase()] ?? language.toLowerCase();
  const found =
    specs.find(({ name }) => name.toLowerCase() === wanted) ??
    specs.find((spec) => spec.language.toLowerCase() === wanted);
  if (found !== undefined) return found;
  const installed = specs.map((spec) => `${spec.name} (${spec.language})`).join(', ') || 'none';
  throw new WorkcellError(
    'plugin-unavailable',
    `There is no kernel for "${language}" in the cell. ${installation[wanted] ?? 'Install a Jupyter kernel for it.'} Installed: ${installed}.`,
    { details: { language, installed: specs.map(({ name }) => name) } },
  );
}

const aliases: Partial<Record<string, string>> = {
  py: 'python',
  js: 'javascript',
  ts: 'typescript',
  sh: 'bash',
  rs: 'rust',
};

export const installIpykernel =
  'Install one with: apt-get install python3-ipykernel, or: python3 -m pip install ipykernel.';

const installation: Partial<Record<string, string>> = {
  python: installIpykernel,
  javascript: 'Install one with: npm install -g tslab && tslab install.',
  typescript: 'Install one with: npm install -g tslab && tslab install.',
  bash: 'Install one with: python3 -m pip install bash_kernel && python3 -m bash_kernel.install.',
};

function readSpec(file: string, text: string): KernelSpec | undefined {
  if (text === '') return ownPython(file);
  const parsed = specSchema.safeParse(readUntrustedJson(text));
  if (!parsed.success) return undefined;
  const { argv, display_name: displayName, language, interrupt_mode: interrupt, env } = parsed.data;
  const folder = dirname(file);
  const name = folder.slice(folder.lastIndexOf('/') + 1);
  const program = argv[0] as string;
  // A specification that names no particular Python means the one beside it.
  const prefix = file.slice(0, file.lastIndexOf('/share/jupyter/'));
  const first = /^python[\d.]*$/.test(program) ? join(prefix, 'bin', program) : program;
  return {
    name,
    language: language || name,
    displayName: displayName || name,
    argv: [first, ...argv.slice(1)].map((word) => word.replaceAll('{resource_dir}', folder)),
    env,
    interrupt,
  };
}

/** The name of the kernel that a Python with ipykernel and no kernel.json gives. */
const ownName = 'python3';

function ownPython(python: string): KernelSpec {
  return {
    name: ownName,
    language: 'python',
    displayName: 'Python 3',
    argv: [python, '-m', 'ipykernel_launcher', '-f', '{connection_file}'],
    env: {},
    interrupt: 'signal',
  };
}

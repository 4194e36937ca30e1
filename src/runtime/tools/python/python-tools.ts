/** Python functions as tools. This side only reads their source; they run in the cell's Python. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { hostProgram } from '../../../base/find-program.js';
import { programText } from '../../../base/program-text.js';
import { signaturesProgram } from '../../../cell/plugins/tools/inside/host-programs.js';
import { WorkcellError } from '../../../protocol/index.js';
import { type FunctionTool, tool } from '../function-tool.js';
import { type Origin, setOrigin } from '../origin.js';

export interface PythonToolsOptions {
  /**
   * The Python of this machine that reads the source; it runs nothing of it. For a name we search the system's
   * directories. Default: `python3`.
   */
  readonly python?: string | undefined;
}

const reportSchema = z.union([
  z.object({ error: z.string() }),
  z.object({
    tools: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        parameters: z.record(z.string(), z.unknown()),
        problem: z.string().nullable(),
      }),
    ),
  }),
]);

/**
 * Every public function of a Python file as a tool: its signature, types and docstring become the schema. Add them to
 * a runtime to use them. Only the file itself ships, so the cell must have what it imports.
 */
export async function pythonTools(
  file: string | URL,
  { python = 'python3' }: PythonToolsOptions = {},
): Promise<FunctionTool[]> {
  const path = file instanceof URL || file.startsWith('file:') ? fileURLToPath(file) : resolve(file);
  return toolsOf(await readSource(path), path, python);
}

export interface AgentSkillsOptions extends PythonToolsOptions {
  /** Whether those for images, audio and video are among them, which ask the model that the cell's variables name. Default: false. */
  readonly media?: boolean | undefined;
}

/**
 * The skills of the plugin `agent-skills` as tools, which return their text. They share one current file in a cell.
 */
export async function agentSkills({
  python = 'python3',
  media = false,
}: AgentSkillsOptions = {}): Promise<FunctionTool[]> {
  const { mediaSkills, skillsToolModule } = await import(
    '../../../cell/plugins/agent-skills/skills-module.js'
  );
  const tools = await toolsOf(skillsToolModule(), 'The module of the agent skills', python);
  return tools.filter(({ name }) => media || !mediaSkills.includes(name));
}

async function toolsOf(source: string, path: string, python: string): Promise<FunctionTool[]> {
  const report = reportSchema.parse(JSON.parse(await inspect(python, source)));
  if ('error' in report) throw refuse(path, `it is not Python: ${report.error}`);
  if (report.tools.length === 0) throw refuse(path, 'it has no public function');
  const origin: Origin = { source: async () => ({ language: 'python', source }) };
  return report.tools.map(({ name, description, parameters, problem }) => {
    if (problem !== null) throw refuse(path, `${name} ${problem}`);
    const made = tool({ name, description, parameters, execute: () => refuseHere(name) });
    setOrigin(made, origin);
    return made;
  });
}

async function readSource(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw refuse(path, `it cannot be read: ${(cause as Error).message}`);
  }
}

function inspect(python: string, source: string): Promise<string> {
  return new Promise((settle, reject) => {
    // Isolated, so that it loads nothing beside the program itself.
    const child = execFile(
      python.includes('/') ? python : hostProgram(python),
      ['-I', '-S', '-c', `${signaturesProgram()}\n\n${programText('inspector.py', import.meta.url)}`],
      { maxBuffer: 16_777_216 },
      (error, output) => {
        if (error === null) settle(output);
        else
          reject(
            new WorkcellError(
              'invalid-tool',
              `"${python}" cannot read Python tools: ${error.message.split('\n')[0]}. Install Python 3.9 or later, or name one with the option "python".`,
              { cause: error },
            ),
          );
      },
    );
    child.stdin?.on('error', () => {});
    child.stdin?.end(source);
  });
}

function refuse(path: string, reason: string): WorkcellError {
  return new WorkcellError('invalid-tool', `${path} cannot be used for tools: ${reason}.`, {
    details: { file: path },
  });
}

/** What such a tool does before you register it with a runtime. */
export function refuseHere(name: string): never {
  throw new Error(
    `"${name}" is Python and runs only in a cell; add it to a runtime and call what getTools() gives`,
  );
}

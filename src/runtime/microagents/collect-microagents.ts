/** Reads the microagents of one source. An unusable file becomes a problem and hides no other. */
import type { Folder } from './folder.js';
import { type Microagent, type MicroagentSource, parseMicroagent } from './microagent.js';

export interface MicroagentProblem {
  readonly source: MicroagentSource;
  readonly path: string;
  readonly message: string;
}

export interface Collected {
  readonly agents: readonly Microagent[];
  readonly problems: readonly MicroagentProblem[];
}

/** Files that other tools read too, by what they become. They hold always, and have no front matter. */
const instructionFiles: Readonly<Record<string, string>> = {
  'agents.md': 'agents',
  'agent.md': 'agents',
  'claude.md': 'claude',
  'gemini.md': 'gemini',
  '.cursorrules': 'cursorrules',
  '.windsurfrules': 'windsurfrules',
  '.clinerules': 'clinerules',
  '.github/copilot-instructions.md': 'copilot-instructions',
  '.openhands_instructions': 'repo_legacy',
};

/** Every Markdown file below a directory, `README.md` left out. */
export async function collectFrom(
  folder: Folder,
  below: string,
  source: MicroagentSource,
): Promise<Collected> {
  const prefix = below === '' ? '' : `${below}/`;
  const names = (await folder.list(below)).filter(
    (name) => /\.md$/i.test(name) && !/(^|\/)readme\.md$/i.test(name),
  );
  return collect(
    folder,
    source,
    names.map((name) => ({ file: `${prefix}${name}`, name: name.replace(/\.md$/i, '') })),
    parseMicroagent,
  );
}

/** The files in the top directory that other tools read too; of two with the same text one is enough. */
export async function collectInstructions(folder: Folder, source: MicroagentSource): Promise<Collected> {
  const names = [
    ...(await folder.list('', 1)),
    ...(await folder.list('.github', 1)).map((name) => `.github/${name}`),
  ];
  const wanted = names.flatMap((file) => {
    const name = instructionFiles[file.toLowerCase()];
    return name === undefined ? [] : [{ file, name }];
  });
  const found = await collect(folder, source, wanted, async (text, about) => ({
    ...(await parseMicroagent('', about)),
    content: text.trim(),
  }));
  const seen = new Set<string>();
  const isNew = ({ content }: Microagent) => content !== '' && !seen.has(content) && seen.add(content);
  return { ...found, agents: found.agents.filter(isNew) };
}

async function collect(
  folder: Folder,
  source: MicroagentSource,
  files: readonly { file: string; name: string }[],
  parse: typeof parseMicroagent,
): Promise<Collected> {
  const agents: Microagent[] = [];
  const problems: MicroagentProblem[] = [];
  for (const { file, name } of files) {
    const path = `${folder.path}/${file}`;
    try {
      const text = await folder.read(file);
      if (text !== undefined) agents.push(await parse(text, { name, source, path }));
    } catch (error) {
      problems.push({ source, path, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return { agents, problems };
}

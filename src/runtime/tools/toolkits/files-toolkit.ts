/** Reads, writes and changes files. */
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { type FunctionTool, tool } from '../function-tool.js';
import { searchToolkit } from './search-toolkit.js';
import { checkOptions } from './toolkit-options.js';
import { createPlace, type PlaceOptions } from './toolkit-place.js';

const largestRead = 1024 * 1024;
const path = z.string().min(1);

/** Makes tools that read, write, edit, list and search files. */
export function filesToolkit(options: PlaceOptions = {}): FunctionTool[] {
  checkOptions('filesToolkit', options, ['root']);
  const place = createPlace(options);
  return [
    tool({
      name: 'read_file',
      description: 'Reads a text file, whole or a range of lines counted from 1.',
      parameters: z.object({
        path,
        startLine: z.int().min(1).default(1),
        endLine: z.int().min(1).optional().describe('Included.'),
      }),
      readOnly: true,
      async execute({ path: name, startLine, endLine }) {
        const file = place.resolve(name);
        const { size } = await stat(file);
        if (size > 64 * largestRead) throw new Error(`${name} has ${size} bytes, too many to read.`);
        const lines = (await readFile(file, 'utf8')).split('\n');
        const text = lines.slice(startLine - 1, endLine).join('\n');
        return {
          text: text.slice(0, largestRead),
          totalLines: lines.at(-1) === '' ? lines.length - 1 : lines.length,
          truncated: text.length > largestRead,
        };
      },
    }) as FunctionTool,
    tool({
      name: 'write_file',
      description: 'Writes a file whole; its directories are made.',
      parameters: z.object({ path, content: z.string() }),
      idempotent: true,
      async execute({ path: name, content }) {
        const file = place.resolve(name);
        await mkdir(dirname(file), { recursive: true });
        await replace(file, content);
        return { path: name, bytes: Buffer.byteLength(content) };
      },
    }) as FunctionTool,
    tool({
      name: 'edit_file',
      description: 'Replaces a text that is in the file exactly once.',
      parameters: z.object({ path, oldText: z.string().min(1), newText: z.string() }),
      async execute({ path: name, oldText, newText }) {
        const file = place.resolve(name);
        const content = await readFile(file, 'utf8');
        const at = content.indexOf(oldText);
        if (at === -1) throw new Error(`The text to replace is not in ${name}.`);
        if (content.indexOf(oldText, at + 1) !== -1)
          throw new Error(
            `The text to replace is in ${name} more than once; give more of what is around it.`,
          );
        await replace(file, content.slice(0, at) + newText + content.slice(at + oldText.length));
        return { path: name, line: content.slice(0, at).split('\n').length };
      },
    }) as FunctionTool,
    tool({
      name: 'list_files',
      description: 'Lists a directory.',
      parameters: z.object({ path: z.string().default('.') }),
      readOnly: true,
      async execute({ path: name }) {
        const entries = await readdir(place.resolve(name), { withFileTypes: true });
        return entries
          .map((entry) => ({
            name: entry.name,
            type: entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : 'file',
          }))
          .sort((a, b) => (a.name < b.name ? -1 : 1));
      },
    }) as FunctionTool,
    ...searchToolkit(options),
  ];
}

/** Whole or not at all, also when something fails half way. */
async function replace(file: string, content: string): Promise<void> {
  const mode = (await stat(file).catch(() => undefined))?.mode;
  const temporary = `${file}.${process.pid}.${Date.now()}.new`;
  await writeFile(temporary, content, { flag: 'wx', ...(mode !== undefined && { mode }) });
  await rename(temporary, file);
}

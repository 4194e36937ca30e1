/** What runs inside the cell: `node inside.mjs GENERATOR SEED …`. */
import { Random } from '../random.js';
import { writeArchive } from './archives.js';
import { attackControl } from './control.js';
import { proxyDevtools } from './devtools.js';
import { serveMcp } from './mcp.js';
import { makeNames } from './names.js';
import { printTerminal } from './terminal.js';
import { makeText } from './texts.js';
import { makeTree } from './trees.js';

const generators: Readonly<
  Record<string, (random: Random, words: readonly string[]) => void | Promise<void>>
> = {
  archives: writeArchive,
  control: attackControl,
  devtools: proxyDevtools,
  mcp: serveMcp,
  names: makeNames,
  terminal: printTerminal,
  texts: makeText,
  trees: makeTree,
};

const [name = '', seed, ...words] = process.argv.slice(2);
await generators[name]?.(new Random(Number(seed)), words);

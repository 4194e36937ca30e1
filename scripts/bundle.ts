/** Writes the program of a cell, in one file, beside the command line of the built package. */
import { writeFile } from 'node:fs/promises';
import { executorScript } from '../src/backends/images/bundle/script.js';

await writeFile('dist/cell/main.cjs', await executorScript());

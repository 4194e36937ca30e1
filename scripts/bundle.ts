/** Completes the built package: programs in other languages beside their modules, and the program of a cell in one file. */
import { cpSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { executorScript } from '../src/backends/images/bundle/script.js';

cpSync('src', 'dist', { recursive: true, filter: (path) => !path.endsWith('.ts') });
await writeFile('dist/cell/main.cjs', await executorScript());

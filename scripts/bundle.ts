/** Completes the built package: programs in other languages beside their modules, and a cell's program and the command line in one file each. */
import { cpSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { executorScript } from '../src/backends/images/bundle/script.js';
import { bundleCommandLine } from './bundle-command-line.js';

cpSync('src', 'dist', { recursive: true, filter: (path) => !path.endsWith('.ts') });
await writeFile('dist/cell/main.cjs', await executorScript());
await bundleCommandLine('dist');

/** The ways in which a cell reaches the program that owns it, by name. */
import { archives } from './archives.js';
import { control } from './control.js';
import { devtools } from './devtools.js';
import { kernel } from './kernel.js';
import { mcp } from './mcp.js';
import { names } from './names.js';
import { terminal } from './terminal.js';
import { texts } from './texts.js';
import { trees } from './trees.js';

export type { Surface } from './surface.js';

export const surfaces = { terminal, control, kernel, devtools, mcp, trees, texts, archives, names };

export type SurfaceName = keyof typeof surfaces;

/** The names of files that have several, beside a saved checkpoint. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Links } from './hard-links.js';

const linksSchema = z.array(z.array(z.string()));

export function writeLinks(directory: string, links: Links): void {
  writeFileSync(join(directory, 'links.json'), JSON.stringify(links), { mode: 0o600, flag: 'wx' });
}

export function readLinks(directory: string): Links {
  return linksSchema.parse(JSON.parse(readFileSync(join(directory, 'links.json'), 'utf8')));
}

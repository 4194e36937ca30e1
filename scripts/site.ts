/** `npm run site [-- folder]`: writes the documentation as a static site, to be opened or served from anywhere. */
import { resolve } from 'node:path';
import { buildSite } from './site/build-site.js';

const folder = resolve(process.argv[2] ?? '.cache/site');
console.log(`${buildSite(folder)} pages in ${folder}`);

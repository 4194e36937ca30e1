/** Follows a page as somebody does who has nothing else: prepares a project, saves its programs, runs them. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkout, readText } from '../house/source.js';
import type { PackedProject } from './packed-project.js';

/** What `npm install` would put into a project of its own, which is here already. */
const installation = /^npm install (.+)$/;
/** The other lines that prepare a project or start a program of the page. */
const command = /^np(?:m init |m pkg |x tsx |x tsc$)/;

/** Does in a new folder of the project what the page says, and gives what its programs printed. */
export function followPage(page: string, packed: PackedProject): string {
  const folder = join(packed.folder, page.replaceAll(/\W/g, '-'));
  mkdirSync(folder);
  // Without the programs of this checkout, and without a registry that could make up for what the page leaves out.
  const path = (process.env.PATH ?? '').split(':').filter((entry) => !entry.includes('node_modules'));
  const env = { ...process.env, PATH: path.join(':'), npm_config_offline: 'true' };
  const run = (line: string) =>
    execFileSync('/bin/bash', ['-c', line], { cwd: folder, encoding: 'utf8', stdio: 'pipe', env });
  const printed: string[] = [];
  for (const { language, name, source } of blocks(page)) {
    if (language !== '') {
      writeFileSync(join(folder, name ?? 'unnamed.ts'), source);
      if (name === undefined) printed.push(run('npx tsx unnamed.ts'));
      continue;
    }
    for (const line of source.split('\n')) {
      const [, names] = installation.exec(line) ?? [];
      if (names !== undefined) install(folder, names.split(' '), packed);
      else if (command.test(line)) printed.push(run(line));
    }
  }
  return printed.join('');
}

/** The blocks of a page, each with the name of the file that the text before it says to save it as. */
function blocks(page: string) {
  const parts = readText(page).split(/^```(\w*)\n([\s\S]*?)^```$/m);
  const every = [];
  for (let index = 0; index + 2 < parts.length; index += 3) {
    const [before = '', language = '', source = ''] = parts.slice(index, index + 3);
    every.push({ language, source, name: /Save this as `([\w.]+)`/.exec(before)?.[1] });
  }
  return every;
}

function install(folder: string, names: readonly string[], packed: PackedProject): void {
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{}\n');
  for (const name of names) {
    const place = join(folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(name === 'workcell' ? packed.installed : join(checkout, 'node_modules', name), place);
    const { bin = {} } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest;
    const programs = typeof bin === 'string' ? { [name]: bin } : bin;
    for (const [program, file] of Object.entries(programs))
      symlinkSync(join(place, file), join(folder, 'node_modules/.bin', program));
  }
}

interface Manifest {
  readonly bin?: string | Record<string, string>;
}

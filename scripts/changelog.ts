/** `npm run changelog -- 2026-01-31`: makes the changes in `.changeset/` a release, in CHANGELOG.md and package.json. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const levels = ['major', 'minor', 'patch'] as const;
type Level = (typeof levels)[number];

interface Change {
  readonly file: string;
  readonly level: Level;
  readonly text: string;
}

/** Returns the new version. */
export function release(folder: string, date: string): string {
  const changes = readChanges(join(folder, '.changeset'));
  if (changes.length === 0) throw new Error('There is no change to release.');
  const manifestFile = join(folder, 'package.json');
  const manifest = readFileSync(manifestFile, 'utf8');
  const { version: before } = JSON.parse(manifest) as { version: string };
  const version = nextVersion(before, changes);
  const changelogFile = join(folder, 'CHANGELOG.md');
  const changelog = readFileSync(changelogFile, 'utf8').replace(/\nThere is no release yet\.\n/, '');
  // The newest release stands first, behind what the file says of itself.
  const begin = changelog.search(/\n## /);
  const [head, rest] = begin < 0 ? [changelog, ''] : [changelog.slice(0, begin), changelog.slice(begin)];
  writeFileSync(changelogFile, `${head.trimEnd()}\n\n${section(version, date, changes)}${rest}`);
  writeFileSync(manifestFile, manifest.replace(`"version": "${before}"`, `"version": "${version}"`));
  for (const { file } of changes) rmSync(file);
  return version;
}

function readChanges(folder: string): Change[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => {
      const file = join(folder, name);
      const match = /^---\n["']?workcell["']?: (\w+)\n---\n([\s\S]*)$/.exec(readFileSync(file, 'utf8'));
      const level = levels.find((one) => one === match?.[1]);
      if (match === null || level === undefined)
        throw new Error(`${file} has to begin with the package and one of ${levels.join(', ')}.`);
      return { file, level, text: (match[2] ?? '').trim() };
    });
}

/** Before 1.0.0 a change that breaks programs raises the second number. */
function nextVersion(before: string, changes: readonly Change[]): string {
  const [major = 0, minor = 0, patch = 0] = before.split('.').map(Number);
  const has = (level: Level) => changes.some((change) => change.level === level);
  if (has('major') && major > 0) return `${major + 1}.0.0`;
  return has('major') || has('minor') ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

function section(version: string, date: string, changes: readonly Change[]): string {
  const titles = { major: 'What breaks programs', minor: 'What is new', patch: 'What works better' };
  const parts = levels.flatMap((level) => {
    const texts = changes.filter((change) => change.level === level).map(({ text }) => text);
    if (texts.length === 0) return [];
    return [`### ${titles[level]}`, '', ...texts.map((text) => `- ${text.replaceAll('\n', '\n  ')}`), ''];
  });
  return [`## ${version} (${date})`, '', ...parts].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [date = new Date().toISOString().slice(0, 10)] = process.argv.slice(2);
  console.log(release(resolve('.'), date));
}

/**
 * Starts a runtime over a directory, and kills itself before the given change to a file system that a verb makes. With 0 it looks
 * before each change at what such a kill would leave, which is what is there at that moment, and prints how many there were.
 */
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [index, directory, verb, killAt] = process.argv.slice(2);
const changing = [
  'mkdirSync',
  'renameSync',
  'unlinkSync',
  'rmdirSync',
  'symlinkSync',
  'chmodSync',
  'linkSync',
];
let isArmed = false;
let count = 0;
const original = { ...fs };
const wrong = new Set();
function step() {
  if (!isArmed) return;
  if (++count === Number(killAt)) process.kill(process.pid, 'SIGKILL');
  if (Number(killAt) === 0) look();
}
/** The directory is as it was, and whatever else is there has the name by which the next process removes it. */
function look() {
  if (contents(directory) !== before) wrong.add(`step ${count}: the directory`);
  const own = join(tmpdir(), `workcell-${process.geteuid()}`);
  const left = [...original.readdirSync(tmpdir()).filter((name) => !own.endsWith(`/${name}`))];
  for (const name of original.readdirSync(own))
    if (!new RegExp(`^workcell-\\d+-\\d+-${process.pid}-\\d+-`).test(name)) left.push(name);
  for (const name of left) wrong.add(`step ${count}: ${name}`);
}
function contents(path) {
  const names = original.readdirSync(path, { recursive: true }).sort();
  const texts = names.map((name) => {
    const stats = original.lstatSync(join(path, name));
    return [name, stats.mode, stats.isFile() ? original.readFileSync(join(path, name), 'utf8') : ''];
  });
  return JSON.stringify(texts);
}
const before = contents(directory);
for (const name of changing)
  fs[name] = (...words) => {
    step();
    return original[name](...words);
  };
fs.openSync = (path, flags, ...words) => {
  if (typeof flags === 'number' && (flags & fs.constants.O_CREAT) !== 0) step();
  return original.openSync(path, flags, ...words);
};
for (const name of ['unlink', 'rmdir', 'rename']) {
  const later = promises[name];
  // Removals in the background come in no order, so nobody can name one to kill at.
  promises[name] = (...words) => {
    if (isArmed && Number(killAt) === 0) look();
    return later(...words);
  };
}
syncBuiltinESMExports();

const { createRuntime } = await import(index);
const workspace = { from: directory, mode: 'overlay' };
const runtime = await createRuntime({ config: false, backend: 'sandbox', workspace, plugins: [], tools: [] });
await runtime.run('echo new > one; rm gone; mkdir -p made/deep; echo x > made/deep/file');
const first = await runtime.checkpoint();
await runtime.run('echo newer > one; echo y > made/deep/file; echo back > gone; ln -s one link');
const [fork] = await runtime.fork({ from: first });
await fork.run('echo other > two; rm -r made');
const verbs = {
  checkpoint: () => runtime.checkpoint(),
  rewind: () => runtime.rewind(first),
  fork: () => runtime.fork(),
  merge: () => runtime.merge(fork, { onConflict: 'overwrite' }),
  close: () => runtime.dropCheckpoint(first),
};
isArmed = true;
const made = await verbs[verb]();
if (verb === 'close') await runtime.close();
isArmed = false;
for (const one of [runtime, fork, ...(Array.isArray(made) ? made : [])]) await one.close();
process.stdout.write(JSON.stringify({ count, wrong: [...wrong] }));

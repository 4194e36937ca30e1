/** Starts a runtime over a directory, and kills itself before the given change to a file system that a verb makes. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

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
function step() {
  if (isArmed && ++count === Number(killAt)) process.kill(process.pid, 'SIGKILL');
}
for (const name of changing)
  fs[name] = (...words) => {
    step();
    return original[name](...words);
  };
fs.openSync = (path, flags, ...words) => {
  if (typeof flags === 'number' && (flags & fs.constants.O_CREAT) !== 0) step();
  return original.openSync(path, flags, ...words);
};
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
};
isArmed = true;
const made = await verbs[verb]();
isArmed = false;
for (const one of [runtime, fork, ...(Array.isArray(made) ? made : [])]) await one.close();
process.stdout.write(String(count));

/** Applies what differs between two directories to a third, and kills itself before the given change to a file system. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [folder, before, after, target, killAt] = process.argv.slice(2);
const changing = ['mkdirSync', 'renameSync', 'unlinkSync', 'rmdirSync', 'symlinkSync', 'chmodSync'];
let count = 0;
const original = { ...fs };
for (const name of changing)
  fs[name] = (...words) => {
    if (++count === Number(killAt)) process.kill(process.pid, 'SIGKILL');
    return original[name](...words);
  };
fs.openSync = (path, flags, ...words) => {
  const makes = typeof flags === 'number' && (flags & fs.constants.O_CREAT) !== 0;
  if (makes && ++count === Number(killAt)) process.kill(process.pid, 'SIGKILL');
  return original.openSync(path, flags, ...words);
};
syncBuiltinESMExports();

const { planChanges } = await import(`${folder}/plan-changes.js`);
const { writeChanges } = await import(`${folder}/write-changes.js`);
const plan = { before: { base: before }, after: { base: after }, target };
const { writes } = await planChanges(plan);
await writeChanges(target, plan.after, writes);
process.stdout.write(String(count));

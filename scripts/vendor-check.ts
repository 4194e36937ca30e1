/** Tries a vendor's backend against the vendor itself, for a person who has a key: `npm run vendor-check -- daytona`. */
import { attachRuntime, type CreateRuntimeOptions, createRuntime, listCells } from '../src/index.js';

const [backend = ''] = process.argv.slice(2);
if (!['e2b', 'daytona', 'modal', 'runloop'].includes(backend)) {
  process.stderr.write('Usage: npm run vendor-check -- e2b|daytona|modal|runloop\n');
  process.exit(64);
}

const say = (what: string) => process.stdout.write(`${what}\n`);
const place = { backend, config: false };
const first = await createRuntime({ ...place, keepAlive: true, ttlMs: 600_000 } as CreateRuntimeOptions);
say(`started ${first.id}, workspace ${first.workspace}`);
const { output, exitCode } = await first.run('uname -a; id; exit 3', { session: 'other' });
say(`a command ended with ${exitCode}: ${output.trim()}`);
await first.write('a.txt', 'a');
say(`a file holds ${(await first.read('a.txt')).content}`);
await first.run('export STAGE=one');
await first.detach();
const cells = await listCells(place as Parameters<typeof listCells>[0]);
say(`listed: ${cells.map(({ id, status }) => `${id} ${status}`).join(', ')}`);
const second = await attachRuntime(first.id, place as Parameters<typeof attachRuntime>[1]);
say(`attached; its shell still knows ${(await second.run('echo $STAGE')).output.trim()}`);
if (['e2b', 'daytona'].includes(backend)) {
  await second.pause();
  await second.resume();
  say(`paused and resumed; its shell still knows ${(await second.run('echo $STAGE')).output.trim()}`);
}
await second.close();
const left = await listCells(place as Parameters<typeof listCells>[0]);
say(
  left.some(({ id }) => id === first.id) ? 'It is STILL LISTED after its end.' : 'ended, and listed no more',
);
process.exit(0);

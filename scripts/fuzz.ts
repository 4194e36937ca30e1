/**
 * `npm run fuzz [-- --seconds 600 --seed 1 --only terminal,mcp --backend sandbox --rounds 1 --plain-user]`: owners of hostile
 * cells, for this long in all. Prints the command that repeats a failed round.
 */
import { parseArgs } from 'node:util';
import { describe, fuzz } from '../test/fuzz/drive.js';
import { type SurfaceName, surfaces } from '../test/fuzz/surfaces/index.js';
import { images, startDockerEngine } from './engines/docker.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    rounds: { type: 'string' },
    only: { type: 'string', default: Object.keys(surfaces).join() },
    backend: { type: 'string', default: 'sandbox' },
    'plain-user': { type: 'boolean', default: false },
  },
});
const names = values.only.split(',') as SurfaceName[];
const [seed, seconds, rounds] = [Number(values.seed), Number(values.seconds), Number(values.rounds ?? 1e9)];
const unknown = names.filter((name) => !(name in surfaces));
if (unknown.length > 0 || !(seed >= 0 && seconds > 0 && rounds > 0)) {
  console.error(
    `Such as: npm run fuzz -- --seconds 60 --seed 1 --only ${Object.keys(surfaces).join()} --backend sandbox`,
  );
  process.exit(64);
}

const places = values.backend.split(',');
const engine = places.includes('docker') ? await startDockerEngine() : undefined;
let failed = false;
try {
  for (const backend of places) {
    for (const surface of names) {
      const outcome = await fuzz({
        surface,
        backend,
        seed,
        rounds,
        asPlainUser: values['plain-user'],
        seconds: seconds / names.length / places.length,
        engine: engine && { engine: engine.host, image: images.tools },
      });
      const { stallMs, grownBytes, failures, once } = outcome;
      console.log(
        `${surface} on ${backend}: ${outcome.rounds} rounds from seed ${seed}, longest stall ${Math.round(stallMs)} ms, grown by ${grownBytes >> 20} MiB, ${failures.length} failures`,
      );
      if (failures.length > 0) console.log(describe(failures));
      if (once.length > 0) console.log(`Too slow once, and not again:\n${describe(once)}`);
      failed ||= failures.length > 0;
    }
  }
} finally {
  await engine?.stop();
}
process.exitCode = failed ? 1 : 0;

/** Starts a cell with each kind of network and prints what became of it. */
import { createRuntime, type NetworkOption } from '../../../src/index.js';

const kinds: Record<string, NetworkOption> = { none: 'none', rules: { allow: ['web.test'] }, open: 'open' };
const results: Record<string, string> = {};
for (const [kind, network] of Object.entries(kinds)) {
  try {
    await using runtime = await createRuntime({ backend: 'sandbox', config: false, network });
    await runtime.run('true');
    results[kind] = 'started';
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    results[kind] = `${code}: ${message}`;
  }
}
process.stdout.write(JSON.stringify(results));

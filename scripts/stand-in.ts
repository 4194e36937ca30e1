/** Starts what stands in for a vendor in the tests, to try things out: `npx tsx scripts/stand-in.ts daytona`. It runs until Ctrl-C. */
import { once } from 'node:events';
import { DaytonaStandIn } from '../test/backends/vendors/daytona-stand-in.js';
import { E2bStandIn } from '../test/backends/vendors/e2b-stand-in.js';
import { ModalStandIn } from '../test/backends/vendors/modal-stand-in.js';
import { RunloopStandIn } from '../test/backends/vendors/runloop-stand-in.js';

const vendors = {
  async daytona() {
    const vendor = await new DaytonaStandIn().start();
    return { vendor, options: { apiKey: vendor.key, apiUrl: `${vendor.url}/api` } };
  },
  async e2b() {
    const vendor = await new E2bStandIn().start();
    return { vendor, options: { apiKey: vendor.key, apiUrl: vendor.url, sandboxUrl: vendor.url } };
  },
  async modal() {
    const vendor = await new ModalStandIn().start();
    return { vendor, options: { tokenId: vendor.keyId, tokenSecret: vendor.key, apiUrl: vendor.url } };
  },
  async runloop() {
    const vendor = await new RunloopStandIn().start();
    return { vendor, options: { apiKey: vendor.key, apiUrl: vendor.url, tunnelUrl: vendor.tunnelUrl } };
  },
};

const [backend = ''] = process.argv.slice(2);
if (!Object.hasOwn(vendors, backend)) {
  process.stderr.write(`Usage: npx tsx scripts/stand-in.ts ${Object.keys(vendors).join('|')}\n`);
  process.exit(64);
}

const { vendor, options } = await vendors[backend as keyof typeof vendors]();
const asked = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
process.stdout.write(`createRuntime(${JSON.stringify({ backend, ...options })})\n`);
await asked;
await vendor.close();
process.exit(0);

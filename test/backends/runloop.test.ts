/** Backend `runloop` through the published client, against a stand-in that really runs what it is asked. */
import { afterAll, beforeAll } from 'vitest';
import { RunloopStandIn } from './vendors/runloop-stand-in.js';
import { vendorSuite } from './vendors/vendor-suite.js';

const vendor = new RunloopStandIn();
beforeAll(() => vendor.start());
afterAll(() => vendor.close());

vendorSuite(
  () => vendor,
  (apiKey = vendor.key) => ({ backend: 'runloop', apiKey, apiUrl: vendor.url, tunnelUrl: vendor.tunnelUrl }),
  {
    pauses: false,
    list: '/v1/devboxes',
    calls: { create: '/v1/devboxes', run: '/execute', write: '/upload_file', end: '/shutdown' },
    ready: '/wait_for_status',
  },
);

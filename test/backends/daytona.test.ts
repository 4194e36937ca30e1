/** Backend `daytona` through the published client, against a stand-in that really runs what it is asked. */
import { afterAll, beforeAll } from 'vitest';
import { DaytonaStandIn } from './vendors/daytona-stand-in.js';
import { vendorSuite } from './vendors/vendor-suite.js';

const vendor = new DaytonaStandIn();
beforeAll(() => vendor.start());
afterAll(() => vendor.close());

vendorSuite(
  () => vendor,
  () => ({ backend: 'daytona', apiKey: vendor.key, apiUrl: `${vendor.url}/api` }),
  { pauses: true },
);

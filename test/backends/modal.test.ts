/** Backend `modal` through the published client, against a stand-in that really runs what it is asked. */
import { afterAll, beforeAll } from 'vitest';
import { ModalStandIn } from './vendors/modal-stand-in.js';
import { vendorSuite } from './vendors/vendor-suite.js';

const vendor = new ModalStandIn();
beforeAll(() => vendor.start());
afterAll(() => vendor.close());

vendorSuite(
  () => vendor,
  (key = vendor.key) => ({ backend: 'modal', tokenId: vendor.keyId, tokenSecret: key, apiUrl: vendor.url }),
  {
    pauses: false,
    // Every other message has its fields.
    strange: [{}],
    list: 'SandboxListV2',
    calls: { create: 'SandboxCreate', run: 'ExecStart', write: 'StdinWriteStream', end: 'Terminate' },
  },
);

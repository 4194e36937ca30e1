/** The browser on the backends that need no engine. */
import { describe } from 'vitest';
import { browserSuite } from './suite.js';

describe.each(['cli', 'sandbox', 'local'] as const)('the browser on %s', (backend) =>
  browserSuite({ backend }),
);

import assert from 'node:assert';
import { sum } from './sum.mjs';

assert.equal(sum(2, 3), 5);

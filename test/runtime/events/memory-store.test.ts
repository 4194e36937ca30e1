import { MemoryStore } from '../../../src/runtime/events/memory-store.js';
import { describeStore } from './store-contract.js';

const store = new MemoryStore();

describeStore('memory', { open: async () => store, lasting: false, sized: true });

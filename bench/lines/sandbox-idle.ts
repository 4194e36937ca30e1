import { idleLine } from '../idle.js';

export default idleLine('sandbox-idle', 1000);

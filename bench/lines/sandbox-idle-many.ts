import { idleLine } from '../idle.js';

/** What 24 GiB hold. */
export default idleLine('sandbox-idle-many', 10_000);

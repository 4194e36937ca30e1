import { startRulesSchema } from './network-schema.js';

/**
 * What `open` means where a gateway enforces it: every public host, on every port. The machine itself and its private
 * networks are none, and need a rule of their own as ever.
 */
export const openRules = startRulesSchema.parse({ allow: ['**:*', '0.0.0.0/0:*', '[::/0]:*'] });

import { startE2bService } from './e2b-service.js';
import { surfaceSuite } from './surface-suite.js';

surfaceSuite(() => startE2bService());

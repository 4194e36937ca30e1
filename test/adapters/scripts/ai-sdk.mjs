import { scripted } from './ai-model.mjs';
import { steps } from './steps.mjs';

export const model = scripted(steps);

import { wordsOf } from '../messages.js';
import { defaultMessages } from './openhands-messages.js';

/** A message of the catalogue, which gets its words when the answer leaves. */
export const words = wordsOf(defaultMessages);

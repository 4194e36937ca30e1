import { wordsOf } from '../messages.js';
import { defaultMessages } from './openhands-messages.js';

/** A message of the catalogue, to be put into words when the answer leaves. */
export const words = wordsOf(defaultMessages);

import type { Text } from '../../messages.js';
import { words } from '../openhands-words.js';

/** A failed editor command; its message is for the agent. */
export class EditorError extends Error {
  readonly text: Text;

  constructor(text: Text) {
    super('The editor cannot do this.');
    this.text = text;
  }
}

export function invalidParameter(parameter: string, value: unknown, why: Text): EditorError {
  const shown = JSON.stringify(value) ?? String(value);
  return new EditorError(words('edit.invalid_parameter', { parameter, value: shown, why }));
}

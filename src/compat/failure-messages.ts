/** The texts of the errors of the layers below a facade: one for each code, so that a catalogue can replace them. */
import { type ErrorCode, errorCodes, type WorkcellError } from '../protocol/index.js';
import { Message } from './messages.js';

type FailureMessages = { readonly [Code in ErrorCode as `failure.${Code}`]: '{message}' };

export const failureMessages = Object.fromEntries(
  errorCodes.map((code) => [`failure.${code}`, '{message}']),
) as FailureMessages;

export function failureText({ code, message }: WorkcellError): Message {
  return new Message(`failure.${code}`, { message });
}

import type { JudgedAction } from '../analyzer.js';

/**
 * A call of a tool as if its arguments were fields of an action, which they often are by name: a command is a command
 * whoever carries it out.
 */
export function unfoldToolCall(action: JudgedAction): JudgedAction {
  const { action: name, arguments: given } = action;
  const isCall = name === 'call_tool' || name === 'call_tool_mcp';
  if (!isCall || typeof given !== 'object' || given === null || Array.isArray(given)) return action;
  return { ...given, action: name };
}

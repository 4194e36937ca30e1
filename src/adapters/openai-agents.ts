/** Tools for agents of `@openai/agents`. */
import type { FunctionTool } from '@openai/agents-core';
import type { Runtime } from '../index.js';
import {
  type AgentTool,
  type AgentToolOptions,
  agentTools,
  answer,
  parseArguments,
} from '../runtime/tools/agent-tools.js';

/** The `tools` for an `Agent`: those registered with the runtime, and its actions. */
export function openaiAgentsTools(runtime: Runtime, options: AgentToolOptions = {}): FunctionTool[] {
  return agentTools(runtime, options).map(toFunctionTool);
}

/** The runtime's own guard decides what needs a confirmation, so nothing needs one here. */
function toFunctionTool(tool: AgentTool): FunctionTool {
  const { name, description, parameters } = tool;
  return {
    type: 'function',
    name,
    description,
    parameters: parameters as FunctionTool['parameters'],
    strict: false,
    needsApproval: async () => false,
    isEnabled: async () => true,
    async invoke(_context, input, details) {
      const signal = details?.signal;
      const { text, pictures } = await answer(
        async () => tool.call(parseArguments(name, input), { signal }),
        signal,
      );
      if (pictures.length === 0) return text;
      return [
        { type: 'text', text },
        ...pictures.map(({ mediaType, data }) => ({
          type: 'image',
          image: `data:${mediaType};base64,${data}`,
        })),
      ];
    },
  };
}

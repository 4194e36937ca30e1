/** Tools for agents of LangChain and LangGraph. */
import { type DynamicStructuredTool, tool } from '@langchain/core/tools';
import type { Runtime } from '../index.js';
import { type AgentTool, type AgentToolOptions, agentTools, answer } from '../runtime/tools/agent-tools.js';

/** What `createAgent`, `bindTools` and a `ToolNode` take: the registered tools, and the runtime's actions. */
export function langchainTools(runtime: Runtime, options: AgentToolOptions = {}): DynamicStructuredTool[] {
  return agentTools(runtime, options).map(toLangchain);
}

/** The facts that a program may want travel as the message's artifact. */
function toLangchain(agentTool: AgentTool): DynamicStructuredTool {
  const { name, description, parameters } = agentTool;
  return tool(
    async (input: unknown, config?: { signal?: AbortSignal }) => {
      const signal = config?.signal;
      const { text, pictures, facts } = await answer(
        () => agentTool.call(input as Record<string, unknown>, { signal }),
        signal,
      );
      const images = pictures.map(({ mediaType, data }) => ({
        type: 'image_url',
        image_url: { url: `data:${mediaType};base64,${data}` },
      }));
      return [images.length === 0 ? text : [{ type: 'text', text }, ...images], facts];
    },
    { name, description, schema: { ...parameters }, responseFormat: 'content_and_artifact' },
  ) as unknown as DynamicStructuredTool;
}

import { MockLanguageModelV4 } from 'ai/test';
import { last } from './steps.mjs';

/** A model of the AI SDK that asks for these calls, one after the other. */
export function scripted(steps) {
  let turn = 0;
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const step = steps[turn++];
      const call = { type: 'tool-call', toolCallId: `call-${turn}` };
      return {
        content: [
          step
            ? { ...call, toolName: step.name, input: JSON.stringify(step.args) }
            : { type: 'text', text: last },
        ],
        finishReason: { unified: step ? 'tool-calls' : 'stop', raw: undefined },
        usage: { inputTokens: {}, outputTokens: {} },
        warnings: [],
      };
    },
  });
}

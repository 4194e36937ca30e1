import { Usage } from '@openai/agents-core';
import { last, steps } from './steps.mjs';

let turn = 0;
export const model = {
  async getResponse() {
    const step = steps[turn++];
    const call = { type: 'function_call', callId: `call-${turn}`, status: 'completed' };
    const message = { type: 'message', role: 'assistant', status: 'completed' };
    const output = step
      ? { ...call, name: step.name, arguments: JSON.stringify(step.args) }
      : { ...message, content: [{ type: 'output_text', text: last }] };
    return { usage: new Usage(), output: [output] };
  },
};

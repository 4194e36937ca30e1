import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { last } from './steps.mjs';

const change = { file_path: '/workspace/sum.mjs', old_string: 'a - b', new_string: 'a + b' };
export const model = fakeModel()
  .respondWithTools([{ name: 'execute', args: { command: 'node sum.test.mjs' }, id: '1' }])
  .respondWithTools([{ name: 'edit_file', args: change, id: '2' }])
  .respond(new AIMessage(last));

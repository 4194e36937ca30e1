import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { last, steps } from './steps.mjs';

export const model = fakeModel();
for (const [index, step] of steps.entries()) model.respondWithTools([{ ...step, id: `call-${index}` }]);
model.respond(new AIMessage(last));

/** An agent of the protocol that follows a script. */
import { Readable, Writable } from 'node:stream';
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { last } from './steps.mjs';

let cwd;
const scripted = agent({ name: 'scripted' })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    cwd = params.cwd;
    return { sessionId: 'only' };
  })
  .onRequest(methods.agent.session.prompt, async ({ client, params: { sessionId } }) => {
    const { fs, session } = methods.client;
    const path = `${cwd}/sum.mjs`;
    const { content } = await client.request(fs.readTextFile, { sessionId, path });
    await client.request(fs.writeTextFile, { sessionId, path, content: content.replace('a - b', 'a + b') });
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: last } };
    await client.notify(session.update, { sessionId, update });
    return { stopReason: 'end_turn' };
  });
await scripted.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

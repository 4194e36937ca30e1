/** Stands in for the program that the Claude Agent SDK starts, and speaks the SDK's lines of JSON. */
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const waiting = new Map();
let requests = 0;

/** Asks the server that lives in the SDK's process. */
function ask(method, params) {
  const id = ++requests;
  const message = { jsonrpc: '2.0', id, method, params };
  const answered = new Promise((resolve) => waiting.set(`mcp-${id}`, resolve));
  const request = { subtype: 'mcp_message', server_name: 'workcell', message };
  send({ type: 'control_request', request_id: `mcp-${id}`, request });
  return answered;
}

/** Answers the SDK until it hangs up. `work` does what a model would: it gets the names of the tools, and calls them. */
export async function answer(work) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { type, request_id, request, response } = JSON.parse(line);
    if (type === 'control_request') {
      const initialized = { commands: [], agents: [], models: [], account: {} };
      send({
        type: 'control_response',
        response: {
          subtype: 'success',
          request_id,
          response: request.subtype === 'initialize' ? initialized : {},
        },
      });
    }
    if (type === 'control_response') waiting.get(response.request_id)?.(response.response.mcp_response);
    if (type === 'user') void act(work);
  }
}

async function act(work) {
  const clientInfo = { name: 'script', version: '1' };
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  const { tools } = (await ask('tools/list', {})).result;
  const call = async (name, args) =>
    (await ask('tools/call', { name, arguments: args })).result.content[0].text;
  const result = await work(
    tools.map(({ name }) => name),
    call,
  );
  send({ type: 'result', subtype: 'success', is_error: false, result, session_id: 'script', num_turns: 1 });
}

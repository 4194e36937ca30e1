/** Stands in for the program that the Claude Agent SDK starts: follows a script and speaks the SDK's lines of JSON. */
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

async function work() {
  const clientInfo = { name: 'script', version: '1' };
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  const { tools } = (await ask('tools/list', {})).result;
  const call = { name: 'run', arguments: { command: 'echo from the cell' } };
  const { content } = (await ask('tools/call', call)).result;
  const result = `${tools.map(({ name }) => name).join(' ')}: ${content[0].text}`;
  send({ type: 'result', subtype: 'success', is_error: false, result, session_id: 'script', num_turns: 1 });
}

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
  if (type === 'user') void work();
}

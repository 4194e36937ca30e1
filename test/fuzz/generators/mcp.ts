/** A server of the Model Context Protocol that knows the form of every message and keeps to little else. */
import { createInterface } from 'node:readline';
import type { Random } from '../random.js';
import { print } from './terminal.js';
import { anyValue, mutate, toText } from './values.js';

interface Request {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly cursor?: string };
}

export function serveMcp(random: Random): void {
  /** How much of its output is wrong; nothing connects to a server that is wrong from the first word. */
  const malice = random.pick([0.02, 0.1, 0.4]);
  let pages = 0;
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method = '' } = JSON.parse(line) as Request;
    if (random.chance(malice)) interject(random);
    if (id === undefined) return;
    const result = method === 'tools/list' ? toolPage(random, pages++) : (answers[method]?.(random) ?? {});
    const message = { jsonrpc: '2.0', id, result };
    if (random.chance(malice / 4)) return;
    say(random.chance(malice) ? mutate(random, message) : message);
    if (random.chance(malice)) say(message);
    if (random.chance(malice / 8)) process.exit(random.int(4));
  });
}

const answers: Readonly<Record<string, (random: Random) => unknown>> = {
  initialize: (random) => ({
    protocolVersion: random.chance(0.9) ? '2025-06-18' : random.pick(['1', '', '9999-99-99']),
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'fuzz', version: '1' },
  }),
  'tools/call': (random) => ({
    content: random.list(random.chance(0.1) ? 20_000 : 4, () => content(random)),
    ...(random.chance(0.3) && { structuredContent: anyValue(random) }),
    isError: random.chance(0.2),
  }),
};

function content(random: Random): unknown {
  return random.pick([
    { type: 'text', text: 'x'.repeat(random.size(random.chance(0.02) ? 30_000_000 : 20_000)) },
    { type: 'image', data: random.bytes(random.size(2000)).toString('base64'), mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'file:///etc/passwd', text: 'root' } },
    anyValue(random),
  ]);
}

/** `act` is always there, in a form that may change from one list to the next. */
function toolPage(random: Random, page: number): unknown {
  const tools = random.list(random.chance(0.1) ? 1200 : 5, () => ({
    name: random.pick([
      'act',
      `tool-${random.int(50)}`,
      '__proto__',
      'constructor',
      '',
      'x'.repeat(random.size(3000)),
    ]),
    description: random.chance(0.9) ? 'Does it.' : 'y'.repeat(random.size(400_000)),
    inputSchema: schema(random),
    ...(random.chance(0.2) && { outputSchema: schema(random) }),
    ...(random.chance(0.2) && { annotations: anyValue(random) }),
  }));
  const act = {
    name: 'act',
    inputSchema: { type: 'object' },
    ...(random.chance(0.3) && { outputSchema: schema(random) }),
  };
  const endless = random.chance(0.1);
  return {
    tools: [act, ...tools],
    ...((endless || page % 3 !== 2) && random.chance(0.5) && { nextCursor: `page-${page}` }),
  };
}

/** Patterns that backtrack, references in a circle, depths, and names that are those of every object. */
function schema(random: Random): object {
  const pattern = random.pick([
    '^(a+)+$',
    '(x+x+)+y',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(',
    '\\u{110000}',
    '(?:a|aa)*b',
  ]);
  return random.pick([
    { type: 'object', properties: { message: { type: 'string' } } },
    { type: 'object', properties: { text: { type: 'string', pattern } }, required: ['text'] },
    { type: 'object', patternProperties: { [pattern]: { type: 'string' } } },
    { type: 'object', $ref: '#' },
    { type: 'object', properties: { again: { $ref: '#' } }, allOf: [{ $ref: '#' }, { $ref: '#/allOf/0' }] },
    { type: 'object', $ref: 'http://127.0.0.1:9/schema.json' },
    { type: 'object', anyOf: Array.from({ length: random.size(2000) }, (_, at) => ({ const: at })) },
    { type: 'object', properties: { deep: anyValue(random, 8) } },
    {
      type: 'object',
      properties: JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"string"}}') as object,
    },
    { type: 'object', ...(anyValue(random) as object) },
  ]);
}

/** What nobody asked for: notifications, questions, and lines that are no message. */
function interject(random: Random): void {
  const one = random.pick<unknown>([
    { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
    {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: random.int(9), progress: 1 },
    },
    { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: anyValue(random) } },
    {
      jsonrpc: '2.0',
      id: random.int(9),
      method: 'sampling/createMessage',
      params: { messages: [], maxTokens: 1 },
    },
    { jsonrpc: '2.0', id: random.int(9), method: 'roots/list' },
    { jsonrpc: '2.0', id: random.int(9), method: 'ping' },
    { jsonrpc: '2.0', id: random.int(99), result: anyValue(random) },
    { jsonrpc: '2.0', id: random.int(99), error: { code: -1, message: 'no' } },
    anyValue(random),
  ]);
  for (let count = random.size(random.chance(0.2) ? 30_000 : 10); count > 0; count--) say(one);
  if (random.chance(0.2)) print(random.bytes(random.size(100_000)));
  if (random.chance(0.05)) print(Buffer.alloc(random.size(30_000_000), 'z'));
}

function say(message: unknown): void {
  print(Buffer.from(`${toText(message)}\n`));
}

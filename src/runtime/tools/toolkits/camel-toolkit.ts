/** Tools of a tool server of CAMEL: its own `api.py`, or one that answers as that does. */
import { z } from 'zod';
import { parseUntrustedJson, readUntrustedJson } from '../../../base/untrusted-json.js';
import { type FunctionTool, tool } from '../function-tool.js';
import { checkOptions } from './toolkit-options.js';

/** Which server of CAMEL, and which of its tools. */
export interface CamelToolkitOptions {
  /** Such as http://localhost:8000, as the place where the tools run reaches it. User and password become HTTP Basic. */
  readonly url: string;
  /**
   * Names of tools, or tools with what a model needs to know, since that server tells no schemas. Default: all, with
   * any arguments by name.
   */
  readonly tools?: readonly (string | ServerTool)[] | undefined;
}

interface ServerTool {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema. */
  readonly parameters?: { readonly [keyword: string]: unknown } | undefined;
}

const largestAnswer = 16 * 1024 * 1024;
const largestBounds = { bytes: 4 * largestAnswer, values: 1_000_000, depth: 256 };
/** What this process reads by itself: a list of names. */
const largestList = { bytes: 1024 * 1024, values: 10_000, depth: 16 };

const healthSchema = z.object({ endpoints: z.array(z.string()) });
const answerSchema = z.object({ output: z.string(), stdout: z.string().default('') });
const failureSchema = z.object({ error_message: z.string().optional(), detail: z.unknown() });

/** Makes tools that call a server of CAMEL, from the cell where they are registered. */
export function camelToolkit(options: CamelToolkitOptions): Promise<FunctionTool[]> {
  return makeTools(options);
}

async function makeTools(options: CamelToolkitOptions): Promise<FunctionTool[]> {
  checkOptions('camelToolkit', options, ['url', 'tools']);
  const send = sender(options.url);
  const given = options.tools ?? (await toolNames(send));
  const tools = new Map<string, ServerTool>();
  for (const one of given) {
    const named = typeof one === 'string' ? { name: one } : one;
    if (!tools.has(named.name)) tools.set(named.name, named);
  }
  return Array.from(tools.values(), ({ name, description, parameters }) =>
    tool({
      name,
      description: description ?? `The tool ${name} of a CAMEL server.`,
      parameters: parameters ?? { type: 'object', additionalProperties: true },
      async execute(input, { signal, log }) {
        const body = JSON.stringify({ args: [], kwargs: input, redirect_stdout: true });
        const { status, text } = await send(`/${encodeURIComponent(name)}`, { method: 'POST', body, signal });
        if (status !== 200) throw new Error(reasonOf(status, text));
        const { output, stdout } = answerSchema.parse(parseAnswer(text));
        if (stdout !== '') log(stdout);
        return parsePython(output);
      },
    }),
  );
}

async function toolNames(send: Send): Promise<string[]> {
  const { text } = await send('/health', { limit: largestList.bytes });
  return healthSchema.parse(parseUntrustedJson(Buffer.from(text), largestList)).endpoints;
}

type Send = ReturnType<typeof sender>;

function sender(address: string) {
  const { username, password, origin, pathname } = new URL(address);
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  const headers = {
    'content-type': 'application/json',
    ...(username + password !== '' && { authorization: `Basic ${login.toString('base64')}` }),
  };
  const base = `${origin}${pathname.replace(/\/$/, '')}`;
  return async (path: string, { limit = largestAnswer, ...init }: RequestInit & { limit?: number } = {}) => {
    const response = await fetch(`${base}${path}`, { ...init, headers, redirect: 'error' });
    let text = '';
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece, { stream: true });
      if (text.length > limit) throw new Error(`The CAMEL server at ${base} sent too long an answer.`);
    }
    return { status: response.status, text };
  };
}

function parseAnswer(text: string): unknown {
  return parseUntrustedJson(Buffer.from(text), largestBounds);
}

/** As its clients look for it. */
function reasonOf(status: number, text: string): string {
  const { error_message: message, detail } = failureSchema
    .catch({ detail: undefined })
    .parse(readUntrustedJson(text));
  const reason = message ?? (typeof detail === 'string' ? detail : JSON.stringify(detail));
  if (reason !== undefined) return reason;
  return `The CAMEL server answered with status ${status}.`;
}

/** Python writes numbers that JSON does not have. They become null. A string counts even without its end: nothing is read twice. */
function parsePython(text: string): unknown {
  return parseAnswer(
    text.replace(/"(?:[^"\\]+|\\.)*"?|-?\bInfinity\b|\bNaN\b/gs, (part) =>
      part.startsWith('"') ? part : 'null',
    ),
  );
}

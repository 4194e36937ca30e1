/** An MCP server as a process of the cell: messages are lines on its standard input and output. */
import { serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { Turns } from '../../../base/turns.js';
import { parseUntrustedJson, usualBounds } from '../../../base/untrusted-json.js';
import { WorkcellError } from '../../../protocol/index.js';
import type { LaunchedProcess } from '../../launchers/launcher.js';
import type { PluginCell } from '../plugin.js';

/** Of one message; a list of tools is the largest that comes. */
const longestMessage = usualBounds.bytes;
/** Join the pieces of a message when there are this many, however short they are. */
const mostPieces = 1024;
/** Most unrequested messages in a second. */
const mostUnasked = 1000;
/** Answers to its own questions that a server has not read. */
const mostUnread = 1024 * 1024;
const keptComplaint = 2000;
const newline = 0x0a;
/** How long a server may take to end by itself after the last client left. */
const exitGraceMs = 1000;

export interface StdioServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
}

export class CellStdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #cell: PluginCell;
  readonly #server: StdioServer;
  #pieces: Buffer[] = [];
  #length = 0;
  #unasked = 0;
  #countedFrom = 0;
  #process: LaunchedProcess | undefined;
  #closing: Promise<void> | undefined;
  #complaint = '';

  constructor(cell: PluginCell, server: StdioServer) {
    this.#cell = cell;
    this.#server = server;
  }

  /** The end of the server's standard error. */
  get complaint(): string {
    return this.#complaint.trim();
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#server;
    const launched = await this.#cell.spawn([command, ...args], { env, ...(cwd !== undefined && { cwd }) });
    this.#process = launched;
    if (this.#closing !== undefined) {
      // Somebody closed it while the process started.
      await this.#end();
      throw new WorkcellError('cancelled', 'The MCP server was disconnected as it started.');
    }
    // A server may end while we write to it; its end shows that.
    launched.stdin.on('error', () => {});
    launched.stdout.on('error', () => {});
    launched.stderr.on('error', () => {});
    const turns = new Turns(launched.stdout, (line: Buffer) => this.#deliver(line));
    launched.stdout.on('data', (chunk: Buffer) => this.#take(chunk, turns));
    launched.stderr.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString('utf8')).slice(-keptComplaint);
    });
    void launched.exited.then(() => turns.whenEmpty()).then(() => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#process ?? {};
    if (stdin === undefined || !stdin.writable)
      throw new WorkcellError('runtime-disconnected', 'The MCP server has ended.');
    if ('result' in message && stdin.writableLength > mostUnread)
      return this.#giveUp('it does not read the answers to its own requests');
    if (stdin.write(serializeMessage(message))) return;
    await new Promise<void>((resolve) => {
      stdin.once('drain', resolve);
      stdin.once('close', resolve);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const launched = this.#process;
    if (launched === undefined) return;
    launched.stdin.end();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, exitGraceMs);
    });
    await Promise.race([launched.exited, late]);
    clearTimeout(timer);
    // Its child processes may outlive it.
    await this.#cell.kill(launched.pid);
    for (const stream of [launched.stdin, launched.stdout, launched.stderr]) stream.destroy();
  }

  #take(chunk: Buffer, turns: Turns<Buffer>): void {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const line = Buffer.concat([...this.#pieces, chunk.subarray(start, end)]);
      start = end + 1;
      this.#pieces = [];
      this.#length = 0;
      turns.add(line);
    }
    this.#pieces.push(chunk.subarray(start));
    this.#length += chunk.length - start;
    if (this.#length > longestMessage) this.#giveUp(`more than ${longestMessage} bytes in one message`);
    else if (this.#pieces.length > mostPieces) this.#pieces = [Buffer.concat(this.#pieces)];
  }

  /** Read no more from the server, so that it ends when it writes again. */
  #giveUp(reason: string): void {
    this.#complaint = reason;
    this.#pieces = [];
    this.#process?.stdout.destroy();
    void this.close();
  }

  #deliver(line: Buffer): void {
    if (this.#closing !== undefined) return;
    try {
      const message = JSONRPCMessageSchema.parse(parseUntrustedJson(line));
      if ('method' in message && this.#isFlood())
        this.#giveUp(`more than ${mostUnasked} messages in a second`);
      else this.onmessage?.(message);
    } catch (error) {
      if (error instanceof RangeError) this.#giveUp(`a message that is not taken. ${error.message}`);
      // A line that is no message, such as a banner printed by mistake, does no harm.
      else this.onerror?.(error as Error);
    }
  }

  #isFlood(): boolean {
    const now = performance.now();
    if (now - this.#countedFrom > 1000) {
      this.#countedFrom = now;
      this.#unasked = 0;
    }
    return ++this.#unasked > mostUnasked;
  }
}

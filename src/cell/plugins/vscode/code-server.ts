/**
 * Starts code-server inside the cell. It listens on a socket of the cell and on no port, and authenticates nobody.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { programText } from '../../../base/program-text.js';
import { WorkcellError } from '../../../protocol/index.js';
import type { PluginCell } from '../plugin.js';
import { guard } from '../plugin-guard.js';
import { removeInside } from '../remove-inside.js';
import { settingsFile } from './editor-settings.js';
import type { VscodeOptions } from './vscode-options.js';

const script = () => `${programText('start-code-server.sh', import.meta.url)}${guard}`;

const flags = [
  '--socket-mode=600',
  '--disable-telemetry',
  '--disable-update-check',
  '--disable-workspace-trust',
  '--disable-getting-started-override',
  '--disable-proxy',
];

/** The longest path of a socket that the operating system takes. */
const longestPath = 107;
const startMs = 120_000;
const complaintLength = 2000;

export interface Editor {
  /** Settles when it has ended. */
  readonly ended: Promise<void>;
  connect(): Promise<Duplex>;
  /** Ends it with everything that it started, and removes its files. */
  close(): Promise<void>;
}

export async function startEditor(cell: PluginCell, options: VscodeOptions): Promise<Editor> {
  const name = `vscode-${randomBytes(6).toString('hex')}`;
  const socket = join(cell.sockets.inside, `${name}.sock`);
  const { variables } = await cell.execute<'get_env'>({ action: 'get_env' });
  const { pid, stdin, stdout, stderr, exited } = await cell.spawn(
    [
      ...['sh', '-c', script(), 'sh', cell.exchange.inside, name, options.program, ...flags],
      // Shorten a path that is too long by starting at its working directory.
      `--socket=${Buffer.byteLength(socket) > longestPath ? `/proc/self/cwd/${name}.sock` : socket}`,
      cell.workspace,
    ],
    { cwd: cell.sockets.inside, env: { VSCODE_SETTINGS: settingsFile(options.settings, variables) } },
  );
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= (async () => {
      await cell.kill(pid);
      await exited;
      for (const stream of [stdin, stdout, stderr]) stream.destroy();
      await removeInside(cell, name);
    })();
    return closing;
  };

  let complaint = '';
  const listening = new Promise<void>((resolve) => {
    for (const stream of [stdout, stderr]) {
      stream.on('error', () => {});
      stream.setEncoding('utf8').on('data', (text: string) => {
        complaint += text;
        if (complaint.includes('listening on ')) resolve();
        complaint = complaint.slice(-complaintLength);
      });
    }
  });
  stdin.on('error', () => {});
  let timer: NodeJS.Timeout | undefined;
  const given = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`It does not listen after ${startMs / 1000} s.`), startMs);
  });
  const failure = await Promise.race([
    listening,
    exited.then(({ exitCode, signal }) => `It ended by itself (${signal ?? exitCode}).`),
    given,
  ]);
  clearTimeout(timer);
  if (failure !== undefined) {
    await close();
    throw new WorkcellError(
      'plugin-unavailable',
      `The editor does not start in the cell. ${failure} ${complaint.trim()}`.trim(),
      { details: { plugin: 'vscode' } },
    );
  }
  return { ended: exited.then(() => {}), connect: () => cell.connect(socket), close };
}

/** A Python kernel reached through the ZeroMQ library alone: what a code cell costs without us. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dealer, Subscriber } from 'zeromq';

export interface RawKernel {
  /** Settles when the kernel has answered and is idle again. */
  run(code: string): Promise<void>;
  close(): void;
}

export async function startRawKernel(): Promise<RawKernel> {
  const folder = mkdtempSync(join(tmpdir(), 'raw-kernel-'));
  const file = join(folder, 'connection.json');
  const address = (port: number) => `ipc://${folder}/k-${port}`;
  const key = randomUUID();
  const ports = { shell_port: 1, iopub_port: 2, stdin_port: 3, control_port: 4, hb_port: 5 };
  const connection = { transport: 'ipc', ip: `${folder}/k`, key, signature_scheme: 'hmac-sha256', ...ports };
  writeFileSync(file, JSON.stringify(connection));
  const child: ChildProcess = spawn(
    '/usr/bin/python3',
    ['-m', 'ipykernel_launcher', '-f', file, '--HistoryManager.enabled=False'],
    { stdio: 'ignore' },
  );
  const shell = new Dealer();
  const iopub = new Subscriber();
  shell.connect(address(ports.shell_port));
  iopub.connect(address(ports.iopub_port));
  iopub.subscribe();

  const waiting = new Map<string, () => void>();
  let heard = false;
  void read(shell, (id) => waiting.get(`${id} reply`)?.());
  void read(iopub, (id, content) => {
    heard = true;
    if (content.execution_state === 'idle') waiting.get(`${id} idle`)?.();
  });

  async function request(type: string, content: object, ends: readonly string[]): Promise<void> {
    const id = randomUUID();
    const date = new Date().toISOString();
    const header = { msg_id: id, msg_type: type, session: 's', username: 'u', date, version: '5.3' };
    const parts = [header, {}, {}, content].map((part) => Buffer.from(JSON.stringify(part)));
    const hmac = createHmac('sha256', key);
    for (const part of parts) hmac.update(part);
    const ended = ends.map((end) => new Promise<void>((resolve) => waiting.set(`${id} ${end}`, resolve)));
    await shell.send(['<IDS|MSG>', hmac.digest('hex'), ...parts]);
    await Promise.all(ended);
    for (const end of ends) waiting.delete(`${id} ${end}`);
  }

  // A subscription takes effect some time after we make it.
  while (!heard) await request('kernel_info_request', {}, ['reply']);
  return {
    run: (code) =>
      request(
        'execute_request',
        {
          code,
          silent: false,
          store_history: true,
          user_expressions: {},
          allow_stdin: false,
        },
        ['reply', 'idle'],
      ),
    close() {
      child.kill('SIGKILL');
      shell.close();
      iopub.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Tells of each message which request it belongs to. */
async function read(
  socket: Dealer | Subscriber,
  tell: (id: string, content: { execution_state?: string }) => void,
): Promise<void> {
  for await (const frames of socket) {
    const at = frames.findIndex((frame) => frame.toString() === '<IDS|MSG>');
    const [parent, content] = [frames[at + 3], frames[at + 5]].map((frame) => JSON.parse(String(frame)));
    tell(parent.msg_id, content);
  }
}

/** Replicas of a service as processes of their own, which a test may kill. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const operatorKey = 'an-operator-key-of-the-test';

export interface Replica {
  readonly url: string;
  readonly process: ChildProcess;
  /** What it has logged so far. */
  log(): string;
  /** Settles when it has logged this. */
  said(text: string): Promise<void>;
  end(signal: NodeJS.Signals): Promise<void>;
}

/** `program`: the command line of Workcell, built. */
export function replicasIn(directory: string, store: string, program: string, settings = '') {
  const config = join(directory, 'service.toml');
  const keyFile = join(directory, 'key');
  writeFileSync(
    config,
    `backend = "sandbox"\n[events]\nstore = "${store}"\n[service]\nstore = "${store}"\n${settings}`,
    { mode: 0o600 },
  );
  writeFileSync(keyFile, operatorKey, { mode: 0o600 });
  return () => startReplica([program, 'serve', '--config', config, '--token-file', keyFile, '--verbose']);
}

async function startReplica(words: readonly string[]): Promise<Replica> {
  const child = spawn(process.execPath, [...words, '--listen', '127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      for (const look of waiting) look();
    });
  const gone = once(child, 'exit').then(() => {
    for (const look of waiting) look();
  });
  const found = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(log);
        const isOver = child.exitCode !== null || child.signalCode !== null;
        if (match === null && !isOver) return;
        waiting.delete(look);
        if (match === null) reject(new Error(`The replica has ended:\n${log}`));
        else resolve(match);
      };
      waiting.add(look);
      look();
    });
  const [url = ''] = await found(/http:\/\/127\.0\.0\.1:\d+/);
  return {
    url,
    process: child,
    log: () => log,
    said: async (text) => void (await found(new RegExp(text))),
    async end(signal) {
      child.kill(signal);
      await gone;
    },
  };
}

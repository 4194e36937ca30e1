/** A Docker Engine for tests and benchmarks: one of its own, or the one that all tests of a run share. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';

export interface DockerEngine {
  /** As DOCKER_HOST has it. */
  readonly host: string;
  /** A process in the network of the engine, where published ports are. */
  readonly networkPid: number;
}

export interface OwnDockerEngine extends DockerEngine {
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The smallest image there is, and one with the programs that the tests use. */
export const images = { bare: 'debian:bookworm', tools: 'workcell-test' } as const;

/** The engine of this test run. The first who asks waits for its start; it ends with the run. */
export async function dockerEngine(): Promise<DockerEngine> {
  const socket = connect(inject('engines'));
  const answer = JSON.parse(await text(socket.end('docker'))) as DockerEngine | { error: string };
  if ('error' in answer) throw new Error(answer.error);
  return answer;
}

/** Starts another engine, for those who mean to break it. */
export async function startDockerEngine(): Promise<OwnDockerEngine> {
  const child = spawn(fileURLToPath(new URL('../../scripts/engines/docker', import.meta.url)), {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const said = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    complaint += piece;
  });
  const exited = once(child, 'exit');
  const expectWord = async (word: string) => {
    const { value = '', done } = await said.next();
    if (!done && value.startsWith(word)) return value.slice(word.length).trim();
    child.stdin.end();
    await exited;
    throw new Error(`The Docker Engine did not start. ./scripts/setup --tests installs it. ${complaint}`);
  };
  const networkPid = Number(await expectWord('pid'));
  const host = await expectWord('ready');
  return {
    host,
    networkPid,
    async kill() {
      child.stdin.write('kill\n');
      await expectWord('killed');
    },
    async restart() {
      child.stdin.write('start\n');
      await expectWord('ready');
    },
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}

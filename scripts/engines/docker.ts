/** Starts the Docker Engine of `docker` in this folder, for tests and benchmarks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

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

/** Starts an engine. It ends with this process at the latest. */
export async function startDockerEngine(): Promise<OwnDockerEngine> {
  const child = spawn(fileURLToPath(new URL('docker', import.meta.url)), {
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

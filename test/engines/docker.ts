/** The Docker Engine that all tests of a run share. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import type { DockerEngine } from '../../scripts/engines/docker.js';

export { images, type OwnDockerEngine, startDockerEngine } from '../../scripts/engines/docker.js';

/** The engine of this test run. The first who asks waits for its start; it ends with the run. */
export async function dockerEngine(): Promise<DockerEngine> {
  const socket = connect(inject('engines'));
  const answer = JSON.parse(await text(socket.end('docker'))) as DockerEngine | { error: string };
  if ('error' in answer) throw new Error(answer.error);
  return answer;
}

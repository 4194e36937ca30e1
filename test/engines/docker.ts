/** The Docker Engine that all tests of a run share. */
import type { DockerEngine } from '../../scripts/engines/docker.js';
import { askForEngine } from './ask.js';

export { images, type OwnDockerEngine, startDockerEngine } from '../../scripts/engines/docker.js';

/** The engine of this test run. The first who asks waits for its start; it ends with the run. */
export function dockerEngine(): Promise<DockerEngine> {
  return askForEngine<DockerEngine>('docker');
}

import { createRuntime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { measureStream, streamedBytes } from '../streaming.js';

export default defineLine({
  name: 'stream',
  summary:
    '1 GiB of output of a process to a listener; floor: the same program through a raw child_process pipe',

  async measure() {
    await using runtime = await createRuntime({ config: false, backend: 'cli' });
    return await measureStream({
      runtime,
      argv: ['head', '-c', String(streamedBytes), '/dev/zero'],
      watched: { name: 'resident memory', pid: process.pid },
      rounds: 5,
    });
  },
});

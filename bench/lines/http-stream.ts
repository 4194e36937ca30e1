import { createRuntime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { measureStream, streamedBytes } from '../streaming.js';
import { startExecutorProcess } from './http/server.js';

const line = 'sixty-three characters of text in a line, as programs print it.';

export default defineLine({
  name: 'http-stream',
  summary:
    '1 GiB of output of a process to a listener, through the HTTP server; floor: the same through a raw pipe',

  async measure() {
    await using server = await startExecutorProcess();
    await using runtime = await createRuntime({ backend: 'remote', url: server.url, token: server.token });
    return await measureStream({
      runtime,
      argv: ['bash', '-c', `yes '${line}' | head -c ${streamedBytes}`],
      watched: { name: 'the server', pid: server.child.pid ?? 0 },
      rounds: 3,
    });
  },
});

/** Docker through its API, as a program would use it by hand: a container that waits, and one exec for each command. */
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import Docker from 'dockerode';
import { extract, pack } from 'tar-stream';
import { serve } from './adapter.js';

const { DOCKER_HOST = '', WORKCELL_BENCH_IMAGE: Image = '' } = process.env;
const docker = new Docker({ socketPath: DOCKER_HOST.replace('unix://', '') });
const folder = '/root';

await serve({
  async open() {
    const container = await docker.createContainer({
      Image,
      Cmd: ['sleep', 'infinity'],
      WorkingDir: folder,
      HostConfig: { NetworkMode: 'none', Init: true },
    });
    await container.start();
    async function run(argv: string[]): Promise<string> {
      const exec = await container.exec({ Cmd: argv, AttachStdout: true, AttachStderr: true });
      const stream = await exec.start({});
      const output = new PassThrough();
      const complaint = new PassThrough().resume();
      docker.modem.demuxStream(stream, output, complaint);
      stream.on('end', () => output.end());
      return await text(output);
    }
    return {
      run: (command) => run(['bash', '-c', command]),
      async write(path, content) {
        const archive = pack();
        archive.entry({ name: path }, content);
        archive.finalize();
        await container.putArchive(Readable.from(archive), { path: folder });
      },
      async read(path) {
        const archive = await container.getArchive({ path: `${folder}/${path}` });
        let content = '';
        const reader = extract().on('entry', (_header, stream, next) => {
          void text(stream).then((whole) => {
            content = whole;
            next();
          });
        });
        await finished(archive.pipe(reader));
        return content;
      },
      close: () => container.remove({ force: true }),
    };
  },
});

import { expect, test } from 'vitest';
import { createRuntime } from '../../src/index.js';
import { contractSuite } from '../contract/suite.js';
import { dockerEngine, images } from '../engines/docker.js';

const { host: engine } = await dockerEngine();

const noSignals = 'the terminals of gVisor send no signals for keys';

contractSuite(
  'docker with gVisor',
  {
    backend: 'docker',
    engine,
    image: images.tools,
    ociRuntime: 'runsc',
    volumes: [`${process.execPath}:/usr/local/bin/node:ro`],
  },
  {
    traits: ['limited-tree'],
    gaps: {
      'input.interrupt': noSignals,
      'input.suspend': noSignals,
      'input.end': 'the terminals of gVisor know no end of input',
      'input.raw-terminal': 'gVisor does not know a terminal as /dev/tty, by which it would be put right',
    },
    sometimes: {
      'limits.output': 'the terminals of gVisor may still hold output when the program that wrote it is gone',
      'limits.timeout-ignored-signals':
        'gVisor may take longer to end a program than a command is given to end',
    },
  },
);

test('no variable of the container tells commands what the executor was told', async () => {
  const given = {
    backend: 'docker',
    config: false,
    engine,
    image: images.tools,
    ociRuntime: 'runsc',
  } as const;
  await using runtime = await createRuntime(given);
  // gVisor shows the variables of every process to all of them.
  const { output } = await runtime.run("cat /proc/*/environ | tr '\\0' '\\n' | grep -c socketPath");
  expect(output).toBe('0\n');
});

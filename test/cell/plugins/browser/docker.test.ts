/** The browser in a container, which gets the programs of this machine: its image has no Chromium. */
import { describe } from 'vitest';
import { dockerEngine, images } from '../../../engines/docker.js';
import { browserSuite } from './suite.js';

const { host: engine } = await dockerEngine();

describe('the browser on docker', () =>
  browserSuite({
    backend: 'docker',
    engine,
    image: images.tools,
    volumes: ['/usr/bin', '/usr/lib', '/usr/share', '/etc/fonts'].map((path) => `${path}:${path}:ro`),
  }));

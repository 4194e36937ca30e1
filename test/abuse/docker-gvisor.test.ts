import { describe, test } from 'vitest';
import { abuseCases, runCase, type Verdict } from '../../src/testing/abuse/index.js';
import { dockerEngine, images } from '../engines/docker.js';
import { expectHeld } from './expect-held.js';
import { expectOnPage } from './scorecard.js';

const { host: engine } = await dockerEngine();
const found = new Map<string, Verdict>();

/** Those that attack the executor or this side, which are the same as with any other kernel. */
const ofTheExecutor =
  /^(7|8|9|13|14|16|17|19|20|21|23|29|41|58|60|63|70|101|102)\.|^24\.proc-verbs$|^public\.(?!empty|leaked|own)/;

/** gVisor tells a process times of its own, and the size of the kernel's memory is that of the machine. */
const notMeasurable = /^(4\.cpu-spin|3\.inodes)$/;

/** gVisor lets a program look into others of its user, shells included. */
const lookingInto = /^7[1-5]\./;

const measured = abuseCases.filter(
  ({ id }) => ![ofTheExecutor, notMeasurable, lookingInto].some((some) => some.test(id)),
);

describe('in a container with gVisor', () => {
  for (const abuse of measured) {
    test(`${abuse.id}: ${abuse.title}`, async () => {
      const verdict = await runCase(abuse, 'docker', { engine, image: images.tools, ociRuntime: 'runsc' });
      found.set(abuse.id, verdict);
      expectHeld(verdict);
    });
  }

  test('docs/reference/scorecard.md says what was found', () => expectOnPage({ 'docker, gVisor': found }));
});

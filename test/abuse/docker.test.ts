import { describe, test } from 'vitest';
import { abuseCases, runCase, type Verdict } from '../../src/testing/abuse/index.js';
import { dockerEngine, images } from '../engines/docker.js';
import { expectHeld } from './expect-held.js';
import { expectOnPage } from './scorecard.js';

const { host: engine } = await dockerEngine();
const found = new Map<string, Verdict>();

describe('in a container', () => {
  for (const abuse of abuseCases) {
    test(`${abuse.id}: ${abuse.title}`, async () => {
      const verdict = await runCase(abuse, 'docker', { engine, image: images.tools });
      found.set(abuse.id, verdict);
      expectHeld(verdict);
    });
  }

  test('docs/reference/scorecard.md says what was found', () => expectOnPage({ docker: found }));
});

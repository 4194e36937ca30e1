import { beforeAll, describe, expect, test } from 'vitest';
import { abuseCases, runCase, type Verdict } from '../../src/testing/abuse/index.js';
import { attackAsPlainUser } from './as-plain-user.js';
import { expectHeld } from './expect-held.js';
import { expectOnPage } from './scorecard.js';

const caseTimeoutMs = 200_000;
const suiteTimeoutMs = 900_000;
const isRoot = process.getuid?.() === 0;

const own = new Map<string, Verdict>();
let plain = new Map<string, Verdict>();

test('every case has an id of its own', () => {
  const ids = abuseCases.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)]);
});

describe(isRoot ? 'as root' : 'as the user who runs the tests', () => {
  for (const abuse of abuseCases) {
    const run = async () => {
      const verdict = await runCase(abuse, 'sandbox');
      own.set(abuse.id, verdict);
      expectHeld(verdict);
    };
    test(`${abuse.id}: ${abuse.title}`, run, caseTimeoutMs);
  }
});

describe.runIf(isRoot)('as a plain user', () => {
  beforeAll(async () => {
    plain = await attackAsPlainUser();
  }, suiteTimeoutMs);

  for (const { id, title } of abuseCases) test(`${id}: ${title}`, () => expectHeld(plain.get(id)));

  test('docs/reference/scorecard.md says what was found', () => {
    expectOnPage({ 'sandbox, root': own, 'sandbox, plain user': plain });
  });
});

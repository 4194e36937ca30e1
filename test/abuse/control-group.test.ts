/** A plain user who may make control groups, as a service manager lets users do. */
import { mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findControlGroups } from '../../src/cell/launchers/limits/places.js';
import { attackInGroups } from './as-plain-user.js';

const isRoot = process.getuid?.() === 0;
const counted = /^(2\.|99\.|100\.)/;
const groups = Object.values(findControlGroups()?.parents ?? {}).map((parent) =>
  join(parent, `workcell-test-${process.pid}`),
);

beforeAll(() => {
  for (const group of isRoot ? groups : []) mkdirSync(group);
});

afterAll(() => {
  for (const group of isRoot ? groups : []) {
    for (const { name } of readdirSync(group, { withFileTypes: true }).filter((one) => one.isDirectory()))
      rmdirSync(join(group, name));
    rmdirSync(group);
  }
});

test.runIf(isRoot && groups.length > 0)('memory is counted whatever it is in', async () => {
  const verdicts = await attackInGroups(counted, groups);
  expect(verdicts.size).toBeGreaterThan(5);
  for (const { id, result, detail } of verdicts.values())
    expect({ id, result, detail }).toMatchObject({ result: 'held' });
});

import { beforeAll, describe, test, vi } from 'vitest';
import { alike, useOf } from '../../../src/testing/contract/tools/alike.js';
import { tools } from '../../../src/testing/contract/tools/kit.js';

describe('a tool in this process', () => {
  beforeAll(() => {
    for (const name of ['log', 'error'] as const) vi.spyOn(console, name).mockImplementation(() => {});
  });

  test.each(Object.entries(alike))('%s', (_, check) => check(useOf(tools)));
});

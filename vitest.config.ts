import { defineConfig } from 'vitest/config';

/** Tests that start real places or take their time; `npm run test:unit` leaves these out. */
const contract = ['test/backends/**/*.test.ts'];
const property = ['test/property/**/*.test.ts'];
const abuse = ['test/abuse/**/*.test.ts'];
const house = ['test/house/**/*.test.ts'];

const common = { pool: 'forks' as const, testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...contract, ...property, ...house, ...abuse],
        },
      },
      { test: { ...common, name: 'house', include: house } },
      { test: { ...common, name: 'contract', include: contract } },
      { test: { ...common, name: 'abuse', include: abuse, testTimeout: 300_000, hookTimeout: 900_000 } },
      { test: { ...common, name: 'property', include: property, testTimeout: 300_000 } },
    ],
  },
});

import { defineConfig } from 'vitest/config';

/** Tests that start real places or take their time; `npm run test:unit` leaves these out. */
const contract = ['test/backends/*.test.ts', 'test/backends/{docker,kubernetes,ubuntu-docker}/**/*.test.ts'];
const property = ['test/property/**/*.test.ts'];
const abuse = ['test/abuse/**/*.test.ts'];
const fuzz = ['test/fuzz/**/*.test.ts'];
/** Those that start the command line, servers or bubblewrap. */
const system = [
  'test/bench/**/*.test.ts',
  'test/adapters/**/*.test.ts',
  'test/cli/**/*.test.ts',
  'test/compat/**/*.test.ts',
  'test/backends/{images,sandbox}/**/*.test.ts',
  'test/examples/**/*.test.ts',
  'test/cell/executor/files/hostile.test.ts',
  'test/cell/server/terminals.test.ts',
  'test/runtime/events/{crash,drive,postgres,runtime}.test.ts',
  'test/runtime/security/{archives,honest-work,pending-restart}.test.ts',
  'test/cell/launchers/bubblewrap/**/*.test.ts',
  'test/cell/launchers/seccomp/{kernel,programs}.test.ts',
  'test/cell/launchers/uid-launcher.test.ts',
  'test/engines/**/*.test.ts',
  'test/release/**/*.test.ts',
  'test/cell/plugins/**/*.test.ts',
  'test/runtime/tools/python-tools.test.ts',
  'test/runtime/*.test.ts',
  'test/deploy/**/*.test.ts',
  'test/site/**/*.test.ts',
  'test/service/{postgres-service-store,previews}.test.ts',
  'test/service/replicas/**/*.test.ts',
  'test/service/{records,service,service-seen,tracing}.test.ts',
  'test/console/console*.test.ts',
  'test/service/tenants-attack*.test.ts',
  'test/runtime/{git,microagents}/**/*.test.ts',
];
const house = ['test/house/**/*.test.ts'];

/** A machine under load can keep a real program waiting; what fails three times is a defect, and the runner names what it repeated. */
const retry = process.env.CI === 'true' ? 2 : 0;
const common = {
  pool: 'forks' as const,
  testTimeout: 60_000,
  hookTimeout: 60_000,
  retry,
  setupFiles: ['test/programs.ts'],
};

export default defineConfig({
  test: {
    maxWorkers: 2,
    globalSetup: ['test/state.ts', 'test/build.ts', 'test/engines/setup.ts'],
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...contract, ...property, ...house, ...abuse, ...fuzz, ...system],
        },
      },
      { test: { ...common, name: 'house', include: house } },
      { test: { ...common, name: 'system', include: system } },
      // The tests of the service once more, on several replicas.
      {
        test: {
          ...common,
          name: 'replicas',
          include: ['test/service/service.test.ts'],
          env: { TEST_STORE_OF_SERVICE: 'postgres' },
        },
      },
      { test: { ...common, name: 'contract', include: contract } },
      { test: { ...common, name: 'abuse', include: abuse, testTimeout: 300_000, hookTimeout: 900_000 } },
      { test: { ...common, name: 'fuzz', include: fuzz, testTimeout: 600_000 } },
      { test: { ...common, name: 'property', include: property, testTimeout: 300_000 } },
    ],
  },
});

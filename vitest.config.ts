import { configDefaults, defineConfig } from 'vitest/config'
import { SummaryReporter } from './scripts/summary-reporter.ts'

// Real processes, sockets and clocks on a shared build machine: there, as everywhere in reliability figures, a run fails
// only if the second of two tries fails too. At a desk the first failure counts.
const retry = process.env.CI === 'true' ? 1 : 0

export default defineConfig({
  test: {
    retry,
    include: ['{src,web,test,scripts}/**/*.test.{ts,tsx}'],
    // What waits by its nature: `npm run test:long`.
    exclude: [...configDefaults.exclude, '**/*.long.test.ts'],
    globalSetup: 'test/global-setup.ts',
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // A condition that holds after a while on a busy machine holds.
    expect: { poll: { timeout: 10_000 } },
    pool: 'forks',
    // On two cores: files wait more than they compute.
    maxWorkers: 3,
    reporters: ['default', new SummaryReporter()],
  },
})

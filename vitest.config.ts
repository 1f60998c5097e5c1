import { configDefaults, defineConfig } from 'vitest/config'
import { SummaryReporter } from './scripts/summary-reporter.ts'

export default defineConfig({
  test: {
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

import { defineConfig } from 'vitest/config'
import { SummaryReporter } from './scripts/summary-reporter.ts'

export default defineConfig({
  test: {
    include: ['{src,web,test,scripts}/**/*.test.{ts,tsx}'],
    globalSetup: 'test/global-setup.ts',
    testTimeout: 20_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', new SummaryReporter()],
  },
})

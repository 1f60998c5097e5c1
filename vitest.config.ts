import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { catalogues } from './scripts/catalogues.ts'
import { SlowestFirst } from './scripts/slowest-first.ts'
import { SummaryReporter } from './scripts/summary-reporter.ts'

export default defineConfig({
  plugins: [catalogues({ folder: fileURLToPath(new URL('web/languages', import.meta.url)), isDivided: false })],
  resolve: {
    alias: [
      {
        find: /^.*\/platform\/thread\.ts$/,
        replacement: fileURLToPath(new URL('./test/support/built-threads.ts', import.meta.url)),
      },
    ],
  },
  test: {
    include: ['{src,simulators,web,test,scripts}/**/*.test.{ts,tsx}'],
    // Tests that take long; `npm run test:long` runs them.
    exclude: [...configDefaults.exclude, '**/*.long.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/setup.ts',
    // Long, because the machine may be busy: a test fails only when something never happens.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: 'forks',
    // A worker process runs many files, and loads a module once for all of them, which takes a third of the CPU time.
    isolate: false,
    // More than cores, because test files also wait. With many more, tests exceed deadlines on a slow machine.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    // Larger than the default, because the garbage collector otherwise takes a seventh of the CPU time.
    execArgv: ['--max-semi-space-size=64'],
    reporters: ['default', new SummaryReporter()],
  },
})

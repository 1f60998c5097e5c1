import { configDefaults, defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

/**
 * Runs the tests that take long, because they wait for half a minute or more, start a service repeatedly, or open every
 * page for preparation and administration.
 */
export default defineConfig({
  plugins: config.plugins,
  test: {
    ...config.test,
    include: ['{src,test}/**/*.long.test.ts'],
    exclude: configDefaults.exclude,
    // A process for each file, because some replace the clock or load all processors.
    isolate: true,
    maxWorkers: 3,
  },
})

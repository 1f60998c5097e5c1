import { configDefaults, defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

/** The tests that wait out what is promised in half minutes, or start a service anew again and again. */
export default defineConfig({
  test: { ...config.test, include: ['test/**/*.long.test.ts'], exclude: configDefaults.exclude },
})

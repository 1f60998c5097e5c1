import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Reporter, SerializedError, TestModule, TestRunEndReason } from 'vitest/node'
import { readSource } from './source.ts'

/** The results of a run, in the file that the variable `TEST_RESULTS` names. */
export interface TestResults {
  readonly commit: string | null
  readonly files: Readonly<Record<string, FileResult>>
  /** The number of errors outside of tests. */
  readonly errors: number
}

/** The number of tests. */
export interface FileResult {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/**
 * Ends a test run with one line that states how many tests passed, failed and were skipped. In CI, a test that did not
 * run (skipped or todo) fails the whole run. The variable `EARLIER_TEST_RESULTS` names the results of an earlier run, of
 * which this run repeats some files.
 */
export class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[], reason: TestRunEndReason): void {
    const { TEST_RESULTS: path, EARLIER_TEST_RESULTS: earlierPath } = process.env
    const files = {
      ...(earlierPath === undefined ? {} : readResults(earlierPath).files),
      ...Object.fromEntries(modules.map((module) => [module.relativeModuleId, countTests(module)])),
    }
    const sum = (key: keyof FileResult) => Object.values(files).reduce((total, file) => total + file[key], 0)
    const { passed, skipped } = { passed: sum('passed'), skipped: sum('skipped') }
    // An error of the global set-up fails the run even if no test has failed.
    const failed = sum('failed') + errors.length || (reason === 'passed' ? 0 : 1)
    if (skipped > 0 && process.env.CI === 'true') process.exitCode = 1
    console.log(`micwatch: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
    if (path === undefined) return
    const { commit } = readSource(fileURLToPath(new URL('..', import.meta.url)))
    writeFileSync(path, `${JSON.stringify({ commit, files, errors: errors.length } satisfies TestResults, null, 1)}\n`)
  }
}

export function readResults(path: string): TestResults {
  return JSON.parse(readFileSync(path, 'utf8'))
}

function countTests(module: TestModule): FileResult {
  const states = [...module.children.allTests()].map((test) => test.result().state)
  const count = (state: string) => states.filter((each) => each === state).length
  const [passed, failed] = [count('passed'), count('failed')]
  // An error in a file or a hook fails the run even if no test has failed.
  const broken = module.errors().length > 0 ? 1 : 0
  return { passed, failed: failed + broken, skipped: states.length - passed - failed }
}

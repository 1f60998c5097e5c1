import type { Reporter, SerializedError, TestModule, TestRunEndReason } from 'vitest/node'

/**
 * Ends a test run with one line that states how many tests passed, failed and were skipped. In CI, a test that did not
 * run (skipped or todo) fails the whole run.
 */
export class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[], reason: TestRunEndReason): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    // An error in a file, a hook or the global set-up fails the run even if no test has failed.
    const broken = modules.filter((module) => module.errors().length > 0).length + errors.length
    const failed = count('failed') + broken || (reason === 'passed' ? 0 : 1)
    const skipped = tests.length - count('passed') - count('failed')
    if (skipped > 0 && process.env.CI === 'true') process.exitCode = 1
    console.log(`micwatch: ${count('passed')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }
}

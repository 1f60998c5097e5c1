/**
 * Lists the test files that failed in a run, from the results that it wrote to `TEST_RESULTS`. Exits with 1 if running
 * them again cannot help: if there are more than five, or if an error outside of tests failed the run.
 */

import { readResults } from './summary-reporter.ts'

const [path] = process.argv.slice(2)
if (path === undefined) throw new Error('Name the file of the results.')
const { files, errors } = readResults(path)
const failed = Object.keys(files).filter((file) => (files[file]?.failed ?? 0) > 0)
if (errors > 0 || failed.length === 0 || failed.length > 5) process.exit(1)
console.log(failed.join('\n'))

/** Runs in every test file: worker processes are shared by test files, and modules are loaded once per process. */

import { aroundEach } from 'vitest'
import { runAsCurrentTest } from './cleanup.ts'

aroundEach(runAsCurrentTest)

import { describe } from 'vitest'
import { testHostileNames } from '../../../test/support/notifications/hostile-name-suite.ts'

// Conformance: C-14.50.
describe('2,000 hostile names, four in each message', () => testHostileNames(4))

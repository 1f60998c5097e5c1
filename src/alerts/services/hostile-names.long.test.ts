import { describe } from 'vitest'
import { testHostileNames } from '../../../test/support/notifications/hostile-name-suite.ts'

describe('2,000 hostile names, each in a message of its own', () => testHostileNames(1))

/** The migrations in the order they are applied. Never change one that was released: add the next. */

import * as firstTables from './0001-first-tables.ts'
import * as audit from './0002-audit.ts'
import * as people from './0003-people.ts'
import * as places from './0004-places.ts'
import * as hardware from './0005-hardware.ts'
import * as alerts from './0006-alerts.ts'

export interface Migration {
  readonly name: string
  statements(dialect: 'sqlite' | 'postgres'): readonly string[]
}

export const migrations: readonly Migration[] = [firstTables, audit, people, places, hardware, alerts]

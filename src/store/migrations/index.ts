/** The migrations in the order they are applied. Never change one that was released: add the next. */

import * as firstTables from './0001-first-tables.ts'

export interface Migration {
  readonly name: string
  statements(dialect: 'sqlite' | 'postgres'): readonly string[]
}

export const migrations: readonly Migration[] = [firstTables]

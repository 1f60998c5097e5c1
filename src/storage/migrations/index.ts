/**
 * The migrations in the order in which they are applied. Never change a released one; add a new one at the end of
 * `unreleased.ts`. Its name begins with the UTC time, such as `20261122T2355Z-recordings`, so that two branches cannot
 * choose the same name. Databases then receive the migration that they lack, whichever branch is merged first. A release
 * moves the unreleased migrations into a file of its own.
 */

import { version010 } from './0.1.0.ts'
import { version100 } from './1.0.0.ts'
import { version110 } from './1.1.0.ts'
import type { Migration } from './migration.ts'
import { unreleased } from './unreleased.ts'

export const migrations: readonly Migration[] = [...version010, version100, ...version110, ...unreleased]

export const migrationNames: readonly string[] = namesOf(migrations)

export function namesOf(list: readonly Migration[]): string[] {
  return list.flatMap(({ names }) => names)
}

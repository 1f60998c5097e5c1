/** The context of an import: the file, the stored installation and the counts of the result. */

import { isDeepStrictEqual } from 'node:util'
import type { Installation } from '../../domain/installation-export.ts'
import type { InstallationFile } from '../../domain/installation-file.ts'
import { isRecord } from '../../domain/json.ts'
import type { Tx } from '../../storage/database.ts'
import type { Secrets } from '../../storage/secrets.ts'

/** Thrown for an invalid value in the file. The message begins with the path of the value inside the file. */
export class ImportError extends Error {
  override readonly name = 'ImportError'

  constructor(path: string, expected: string) {
    super(`${path}: ${expected}`)
  }
}

export interface Count {
  created: number
  updated: number
  unchanged: number
}

export const importedKinds = [
  'manufacturers',
  'settings',
  'locations',
  'groups',
  'performers',
  'frequency_profiles',
  'receivers',
  'assignments',
  'placeholders',
  'shows',
  'scenes',
  'silences',
  'markers',
  'checks',
  'notification_channels',
  'notification_rules',
  'planning_center',
] as const
export type Kind = (typeof importedKinds)[number]

export interface ImportContext extends ImportCounts {
  readonly tx: Tx
  readonly secrets: Secrets
  readonly revision: number
  readonly now: number
  readonly file: InstallationFile
  readonly before: Installation
}

interface ImportCounts {
  readonly counts: Record<Kind, Count>
  readonly unknown: string[]
  count(kind: Kind, before: unknown, after: unknown): boolean
}

export function createImportCounts(): ImportCounts {
  const counts = Object.fromEntries(
    importedKinds.map((kind) => [kind, { created: 0, updated: 0, unchanged: 0 }]),
  ) as Record<Kind, Count>
  return {
    counts,
    unknown: [],
    /** Counts a record as created, updated or unchanged. Returns true when it has to be written. */
    count(kind, before, after) {
      const isSame = isDeepStrictEqual(plainOf(before), plainOf(after))
      counts[kind][before === undefined ? 'created' : isSame ? 'unchanged' : 'updated'] += 1
      return !isSame
    },
  }
}

/**
 * Copies a database row into an ordinary object. Rows have no prototype, so isDeepStrictEqual would report equal
 * records as different.
 */
function plainOf(value: unknown): unknown {
  return isRecord(value) ? { ...value } : value
}

/**
 * Creates a function that returns every item at most once, so that several entries of the same name match different
 * items.
 */
export function createPicker<Item>(items: readonly Item[]): (matches: (item: Item) => boolean) => Item | undefined {
  const remaining = [...items]
  return (matches) => {
    const index = remaining.findIndex(matches)
    return index === -1 ? undefined : remaining.splice(index, 1)[0]
  }
}

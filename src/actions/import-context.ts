/** What every part of an import works with: the file, what stands in the house, and the count of what came of it. */

import { isDeepStrictEqual } from 'node:util'
import type { Installation, InstallationFile } from '../model/installation-file.ts'
import type { Tx } from '../store/database.ts'
import type { Secrets } from '../store/secrets.ts'

/** The file asks for what cannot be; the message begins with the path inside it. */
export class ImportError extends Error {
  override readonly name = 'ImportFault'

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
  'receivers',
  'assignments',
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
    /** True when there is something to write. */
    count(kind, before, after) {
      const isSame = isDeepStrictEqual(plainOf(before), plainOf(after))
      counts[kind][before === undefined ? 'created' : isSame ? 'unchanged' : 'updated'] += 1
      return !isSame
    },
  }
}

/** Rows come without a prototype, which makes them differ from records that are the same. */
function plainOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : value
}

/** Each is given once, so that several of one name find one partner each. */
export function createPicker<Item>(items: readonly Item[]): (fits: (item: Item) => boolean) => Item | undefined {
  const left = [...items]
  return (fits) => {
    const at = left.findIndex(fits)
    return at === -1 ? undefined : left.splice(at, 1)[0]
  }
}

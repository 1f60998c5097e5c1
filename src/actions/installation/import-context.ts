/** The context of an import: the stored installation and the counts of the result. */

import { isDeepStrictEqual } from 'node:util'
import type { EventDraft } from '../../domain/events/event.ts'
import { isRecord } from '../../domain/json.ts'
import type { NotificationChannel } from '../../domain/notifications/channel.ts'
import { parseTimestamp } from '../../domain/timestamp.ts'
import type { Unstored } from '../../domain/versions.ts'
import type { Tx } from '../../storage/database.ts'
import type { Secrets } from '../../storage/secrets.ts'
import type { StoredManufacturer } from '../../storage/settings.ts'
import type { Installation } from './export-installation.ts'

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

/** A section of the file. */
export type Kind = Exclude<keyof Installation, 'units'>

export interface PlannedChannel {
  readonly stored: NotificationChannel | undefined
  readonly channel: Unstored<NotificationChannel>
}

interface ImportStart {
  readonly tx: Tx
  readonly secrets: Secrets
  readonly revision: number
  readonly now: number
  readonly before: Installation
  /** Entries that were merged into the stored records before the transaction. */
  readonly planned: {
    readonly manufacturers: readonly StoredManufacturer[]
    readonly notification_channels: readonly PlannedChannel[]
  }
  /** The slots that the entries about placeholders and receivers name, and the performers in the entries about slots. */
  readonly slots: {
    readonly placeholders: readonly number[]
    readonly channels: ReadonlySet<number>
    readonly performers: ReadonlySet<string | undefined>
  }
}

export interface ImportContext extends ImportStart {
  readonly counts: Record<Kind, Count>
  /** Devices in the file that are not known yet. */
  readonly unknown: string[]
  /** Stored at the end, after all other counters have been incremented. */
  readonly events: EventDraft[]
  /** Counts a record as created, updated or unchanged. Returns true when it has to be written. */
  count(kind: Kind, before: unknown, after: unknown): boolean
}

export function createImportContext(start: ImportStart, kinds: readonly Kind[]): ImportContext {
  const counts = Object.fromEntries(
    kinds.map((kind) => [kind, { created: 0, updated: 0, unchanged: 0 }]),
  ) as ImportContext['counts']
  return {
    ...start,
    counts,
    unknown: [],
    events: [],
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

/** Returns the time in epoch milliseconds. `path` is the position of the text in the file. */
export function readTime(text: string, path: string): number {
  const time = parseTimestamp(text)
  if (time === null) throw new ImportError(path, 'expected a time such as 2026-05-01T18:00:00Z')
  return time
}

export function readTimeOrNull(text: string | null | undefined, path: string): number | null {
  return text === null || text === undefined ? null : readTime(text, path)
}

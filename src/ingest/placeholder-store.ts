import { type EntryHolder, holderOf, type SlotEntry } from '../domain/equipment/slot-entry.ts'
import { describeHolder, type Placeholder } from '../domain/equipment/slots.ts'
import { isSameJson } from '../domain/json.ts'
import { Topic } from '../platform/topic.ts'
import type { Reader } from '../storage/database.ts'
import { currentRevision } from '../storage/revision.ts'
import { listSlotEntries } from '../storage/slot-entries.ts'
import { listPlaceholders } from '../storage/slots.ts'

export interface StoredSlots {
  /** The counter of changes that this state includes. */
  readonly revision: number
  readonly placeholders: readonly Placeholder[]
  readonly entries: readonly SlotEntry[]
}

/**
 * The current placeholders, and what was entered about slots. They are loaded together with the receivers, with which
 * they share the slots.
 */
export class PlaceholderStore {
  readonly changed = new Topic()
  #current: StoredSlots = { revision: -1, placeholders: [], entries: [] }
  #entries: ReadonlyMap<string, SlotEntry> = new Map()

  /** Returns all placeholders, ordered by id. */
  list(): readonly Placeholder[] {
    return this.#current.placeholders
  }

  entries(): readonly SlotEntry[] {
    return this.#current.entries
  }

  entryOf(holder: EntryHolder): SlotEntry | undefined {
    return this.#entries.get(describeHolder(holder))
  }

  /** Reads the stored state. Returns the current one if nothing was stored since. */
  async read(reader: Reader): Promise<StoredSlots> {
    const revision = await currentRevision(reader, 'placeholders')
    if (revision === this.#current.revision) return this.#current
    return { revision, placeholders: await listPlaceholders(reader), entries: await listSlotEntries(reader) }
  }

  /** Replaces everything. Returns whether anything changed. */
  replace(slots: StoredSlots): boolean {
    const { placeholders, entries } = this.#current
    this.#current = slots
    if (isSameJson(placeholders, slots.placeholders) && isSameJson(entries, slots.entries)) return false
    this.#entries = new Map(slots.entries.map((entry) => [describeHolder(holderOf(entry)), entry]))
    this.changed.publish()
    return true
  }
}

/** The levels of every channel that were last announced, so that only differences are. */

import { entryLevels } from '../domain/live/lists.ts'
import { announcedCount, noLevel } from '../ingest/level-store.ts'

/** Marks a channel whose next levels are announced in any case. No level has this value. */
const notSame = 32_767

export class AnnouncedLevels {
  #values = new Int16Array(64 * announcedCount)
  readonly #rows = new Map<number, number>()
  readonly #freeRows: number[] = []

  set(channelId: number, levels: Int16Array): void {
    const row = this.#rows.get(channelId) ?? this.#allocate(channelId)
    this.#values.set(levels, row * announcedCount)
  }

  /** Records the levels that one client received. If the others did not, the next ones are announced in any case. */
  setForOne(channelId: number, levels: Int16Array): void {
    const row = this.#rows.get(channelId)
    const isSame =
      row !== undefined &&
      entryLevels.every((_, column) => this.#values[row * announcedCount + column] === levels[column])
    if (!isSame) this.put(channelId, levels)
  }

  /** Replaces the levels of a channel. The next levels are announced in any case. */
  put(channelId: number, levels: Int16Array): void {
    this.set(channelId, levels)
    this.forget(channelId)
  }

  remove(channelId: number): void {
    const row = this.#rows.get(channelId)
    if (row === undefined) return
    this.#rows.delete(channelId)
    this.#freeRows.push(row)
  }

  clear(): void {
    this.#rows.clear()
    this.#freeRows.length = 0
  }

  /** Returns true if the levels of an entry differ from the stored ones. */
  update(channelId: number, levels: Int16Array): boolean {
    const row = this.#rows.get(channelId)
    if (row === undefined) {
      this.set(channelId, levels)
      return true
    }
    let differs = false
    for (let column = 0; column < entryLevels.length; column += 1) {
      const index = row * announcedCount + column
      const value = levels[column] ?? 0
      if (this.#values[index] === value) continue
      this.#values[index] = value
      differs = true
    }
    return differs
  }

  /** Compares `unlistedLevels`, which `levels` messages omit. */
  hasOtherUnlisted(channelId: number, levels: Int16Array): boolean {
    const row = this.#rows.get(channelId)
    for (let column = entryLevels.length; column < announcedCount; column += 1) {
      const last = row === undefined ? noLevel : this.#values[row * announcedCount + column]
      if (last !== levels[column]) return true
    }
    return false
  }

  /** The next levels are announced in any case, because a client may have received newer ones. */
  forget(channelId: number): void {
    const row = this.#rows.get(channelId)
    if (row !== undefined) this.#values[row * announcedCount] = notSame
  }

  #allocate(channelId: number): number {
    const row = this.#freeRows.pop() ?? this.#rows.size
    this.#rows.set(channelId, row)
    if ((row + 1) * announcedCount > this.#values.length) {
      const larger = new Int16Array(2 * this.#values.length)
      larger.set(this.#values)
      this.#values = larger
    }
    return row
  }
}

/** The levels of a `levels` message, compact because the journal keeps them. */

import { toAntennaLetters } from '../domain/levels/level-sample.ts'
import { entryLevels } from '../domain/live/lists.ts'
import { noLevel } from '../ingest/level-store.ts'

const antennasColumn = entryLevels.indexOf('antennas')
/** Levels in an entry without those of `levels=full`. */
const basicCount = 3

export class LevelBatch {
  readonly #ids: Int32Array
  /** One row for each channel, in the order of `entryLevels`. */
  readonly #values: Int16Array
  readonly #width: number

  constructor(ids: readonly number[], values: readonly number[], { isFull }: { readonly isFull: boolean }) {
    this.#width = isFull ? entryLevels.length : basicCount
    this.#ids = Int32Array.from(ids)
    this.#values = new Int16Array(ids.length * this.#width)
    for (let row = 0; row < ids.length; row += 1) {
      for (let column = 0; column < this.#width; column += 1) {
        this.#values[row * this.#width + column] = values[row * entryLevels.length + column] ?? noLevel
      }
    }
  }

  get bytes(): number {
    return this.#ids.byteLength + this.#values.byteLength
  }

  get ids(): Iterable<number> {
    return this.#ids
  }

  /** Returns null if no channel is included. */
  toFrame(
    { seq, at, isFull }: { readonly seq: number; readonly at: string; readonly isFull: boolean },
    isIncluded?: (channelId: number) => boolean,
  ): Buffer | null {
    const count = isFull ? this.#width : basicCount
    let entries = ''
    for (let row = 0; row < this.#ids.length; row += 1) {
      const id = this.#ids[row] ?? 0
      if (isIncluded !== undefined && !isIncluded(id)) continue
      entries += entries === '' ? `[${id}` : `,[${id}`
      entries += this.#levelsJson(row * this.#width, count)
      entries += ']'
    }
    return entries === '' ? null : Buffer.from(`{"type":"levels","seq":${seq},"at":"${at}","values":[${entries}]}`)
  }

  /** Each level follows a comma. Nulls at the end are omitted. */
  #levelsJson(start: number, count: number): string {
    let end = count
    while (end > 0 && this.#values[start + end - 1] === noLevel) end -= 1
    let json = ''
    for (let column = 0; column < end; column += 1) {
      const value = this.#values[start + column] ?? noLevel
      if (value === noLevel) json += ',null'
      else json += column === antennasColumn ? `,"${toAntennaLetters(value)}"` : `,${value}`
    }
    return json
  }
}

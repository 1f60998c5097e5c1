/** The levels of many channels as a `levels` message announces them. Compact, because the journal keeps them. */

import { toAntennaLetters } from '../domain/levels/antennas.ts'
import { entryLevels } from '../domain/live/channel-levels.ts'
import { noLevel } from '../ingest/level-store.ts'

const antennasColumn = entryLevels.indexOf('antennas')
/** The number of levels in an entry, not counting those that only `levels=full` adds. */
const basicCount = 3

export class LevelBatch {
  readonly #ids: Int32Array
  /** One row per channel, in the order of `entryLevels`, with the levels that `levels=full` adds only if `isFull`. */
  readonly #values: Int16Array
  readonly #width: number

  /** `values` contains a complete row per channel. */
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

  /** The size in memory. */
  get bytes(): number {
    return this.#ids.byteLength + this.#values.byteLength
  }

  /** The ids of the channels. */
  get ids(): Iterable<number> {
    return this.#ids
  }

  /** Serializes a message with the entries of the included channels; returns null if there are none. */
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

  /** Serializes the levels of a row, each after a comma, without the nulls at its end. */
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

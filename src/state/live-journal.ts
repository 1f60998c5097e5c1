/**
 * The messages of the live interface, version 2, in order. Each is numbered and serialized once for all clients, and
 * kept for a while, so that a client whose connection was interrupted can resume.
 */

import { randomBytes } from 'node:crypto'
import type { LiveChange } from '../contract/live-messages.ts'
import type { LevelEntry } from '../domain/live/channel-levels.ts'
import type { LiveSubject } from '../domain/live/filter.ts'

export interface JournalEntry {
  readonly seq: number
  readonly type: LiveChange['type'] | 'levels'
  readonly subject: LiveSubject
  /** The message as JSON. */
  readonly frame: Buffer
  /** The message with all levels, if it is of the type `levels` and a client asks for them. */
  readonly fullFrame: Buffer | null
  /** When it was added, as a `performance.now()` time. */
  readonly addedAt: number
}

export interface JournalLimits {
  /** Messages are kept for this time, or until there are `count` newer ones, whichever is longer. */
  readonly ageMs: number
  readonly count: number
  /** Older messages are dropped when all frames together take more than this. */
  readonly bytes: number
}

const defaultLimits: JournalLimits = { ageMs: 60_000, count: 10_000, bytes: 64 * 1024 * 1024 }
/** The approximate size of an entry in memory, in addition to its frames. */
const entryBytes = 300

export class LiveJournal {
  /** Identifies this process. */
  readonly epoch = randomBytes(8).toString('hex')
  readonly #limits: JournalLimits
  readonly #now: () => number
  /** The kept entries, ordered by `seq` without gaps, from `#first`. Dropped entries are cut off from time to time. */
  #entries: (JournalEntry | undefined)[] = []
  #first = 0
  #bytes = 0
  #seq = 0

  constructor(limits: Partial<JournalLimits> = {}, now: () => number = () => performance.now()) {
    this.#limits = { ...defaultLimits, ...limits }
    this.#now = now
  }

  /** The number of the newest message; 0 before the first. */
  get seq(): number {
    return this.#seq
  }

  /** The total size of the kept entries. */
  get bytes(): number {
    return this.#bytes
  }

  append({ type, ...fields }: LiveChange, subject: LiveSubject): JournalEntry {
    const frame = Buffer.from(JSON.stringify({ type, seq: this.#seq + 1, ...fields }))
    return this.#add({ type, subject, frame, fullFrame: null })
  }

  /** Adds a `levels` message. */
  appendLevels(entries: readonly LevelEntry[], at: string, options: { readonly isFull: boolean }): JournalEntry {
    const seq = this.#seq + 1
    const frame = levelsFrame(
      seq,
      at,
      entries.map(({ basic }) => basic),
    )
    const fullFrame = options.isFull
      ? levelsFrame(
          seq,
          at,
          entries.map(({ full }) => full),
        )
      : null
    return this.#add({ type: 'levels', subject: {}, frame, fullFrame })
  }

  /** Returns the messages after `seq`; null if they are not all kept, or the number is in the future. */
  since(seq: number): readonly JournalEntry[] | null {
    const missed = this.#seq - seq
    const kept = this.#entries.length - this.#first
    if (missed < 0 || missed > kept) return null
    return missed === 0 ? [] : (this.#entries.slice(-missed) as JournalEntry[])
  }

  /** Drops all messages, so that no client can resume. */
  clear(): void {
    this.#entries = []
    this.#first = 0
    this.#bytes = 0
  }

  #add(message: Omit<JournalEntry, 'seq' | 'addedAt'>): JournalEntry {
    this.#seq += 1
    const entry = { ...message, seq: this.#seq, addedAt: this.#now() }
    this.#entries.push(entry)
    this.#bytes += sizeOf(entry)
    this.#dropOldest()
    return entry
  }

  #dropOldest(): void {
    for (let oldest = this.#entries[this.#first]; oldest !== undefined; oldest = this.#entries[this.#first]) {
      const count = this.#entries.length - this.#first
      const isOld = count > this.#limits.count && this.#now() - oldest.addedAt > this.#limits.ageMs
      if (!isOld && this.#bytes <= this.#limits.bytes) break
      this.#entries[this.#first] = undefined
      this.#first += 1
      this.#bytes -= sizeOf(oldest)
    }
    if (this.#first * 2 < this.#entries.length || this.#first < 1000) return
    this.#entries = this.#entries.slice(this.#first)
    this.#first = 0
  }
}

export function levelsFrame(seq: number, at: string, values: readonly string[]): Buffer {
  return Buffer.from(`{"type":"levels","seq":${seq},"at":"${at}","values":[${values.join(',')}]}`)
}

function sizeOf({ frame, fullFrame }: JournalEntry): number {
  return frame.length + (fullFrame?.length ?? 0) + entryBytes
}

/**
 * The messages of version 2, in order. Each is numbered and serialized once, and kept for a while, so that a client can
 * resume.
 */

import { randomBytes } from 'node:crypto'
import type { LiveChange } from '../contract/live-messages.ts'
import { changesMembers, type LiveSubject } from '../domain/live/filter.ts'
import type { LevelBatch } from './level-batch.ts'

export interface ChangeEntry {
  readonly seq: number
  readonly type: LiveChange['type']
  readonly subject: LiveSubject
  readonly frame: Buffer
  readonly changesMembers: boolean
  readonly addedAt: number
}

/** Serialized when it is sent, because most clients are sent only some of its entries. */
export interface LevelsEntry {
  readonly seq: number
  readonly type: 'levels'
  readonly at: string
  readonly levels: LevelBatch
  readonly addedAt: number
}

export type JournalEntry = ChangeEntry | LevelsEntry

export interface JournalLimits {
  /** Messages are kept for this time, or until there are `count` newer ones, whichever is longer. */
  readonly ageMs: number
  readonly count: number
  /** The oldest messages are dropped while all messages together take more than this. */
  readonly bytes: number
}

const defaultLimits: JournalLimits = { ageMs: 60_000, count: 10_000, bytes: 64 * 1024 * 1024 }
/** Approximate, without frames. */
const entryBytes = 300

export class LiveJournal {
  readonly epoch = randomBytes(8).toString('hex')
  readonly #limits: JournalLimits
  readonly #now: () => number
  /**
   * Ordered by `seq` without gaps. Entries before index `#first` were dropped; the array is shortened from time to
   * time.
   */
  #entries: (JournalEntry | undefined)[] = []
  #first = 0
  #bytes = 0
  #seq = 0
  /** Ranges in which a client may lack earlier messages. */
  #holes: { readonly from: number; readonly to: number }[] = []
  #shared: { readonly entry: LevelsEntry; readonly frames: Map<boolean, Buffer> } | null = null

  constructor(limits: Partial<JournalLimits> = {}, now: () => number = () => performance.now()) {
    this.#limits = { ...defaultLimits, ...limits }
    this.#now = now
  }

  /** 0 before the first message. */
  get seq(): number {
    return this.#seq
  }

  get bytes(): number {
    return this.#bytes
  }

  append(change: LiveChange, subject: LiveSubject): ChangeEntry {
    const { type, ...fields } = change
    const seq = this.#nextSeq()
    const frame = Buffer.from(JSON.stringify({ type, seq, ...fields }))
    return this.#add({ seq, type, subject, frame, changesMembers: changesMembers(change), addedAt: this.#now() })
  }

  appendLevels(levels: LevelBatch, at: string): LevelsEntry {
    return this.#add({ seq: this.#nextSeq(), type: 'levels', at, levels, addedAt: this.#now() })
  }

  /** The frame with all entries, shared by the clients that are sent it. */
  levelsFrame(entry: LevelsEntry, isFull: boolean): Buffer {
    if (this.#shared?.entry !== entry) this.#shared = { entry, frames: new Map() }
    const { frames } = this.#shared
    const frame = frames.get(isFull) ?? entry.levels.toFrame({ ...entry, isFull }) ?? noBytes
    frames.set(isFull, frame)
    return frame
  }

  /** Returns the messages after `seq`; null if some were dropped, or `seq` is in the future. */
  since(seq: number): readonly JournalEntry[] | null {
    const missed = this.#seq - seq
    const kept = this.#entries.length - this.#first
    if (missed < 0 || missed > kept) return null
    return missed === 0 ? [] : (this.#entries.slice(-missed) as JournalEntry[])
  }

  /** A connection ended after message `to`. The client may lack changes since `from`. */
  addHole(from: number, to: number): void {
    this.#holes = [...this.#holes.slice(-maxHoles), { from, to }]
  }

  /** Clients cannot resume after such a message. */
  isInHole(seq: number): boolean {
    return this.#holes.some(({ from, to }) => seq >= from && seq <= to)
  }

  /** Drops all messages and skips a number, so that no client can resume, even if it has received every message. */
  invalidate(): void {
    this.clear()
    this.#seq += 1
  }

  clear(): void {
    this.#entries = []
    this.#first = 0
    this.#bytes = 0
    this.#shared = null
  }

  #nextSeq(): number {
    this.#seq += 1
    return this.#seq
  }

  #add<Entry extends JournalEntry>(entry: Entry): Entry {
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

/** Only clients on slow lines leave holes. */
const maxHoles = 100
const noBytes = Buffer.alloc(0)

function sizeOf(entry: JournalEntry): number {
  return (entry.type === 'levels' ? entry.levels.bytes : entry.frame.length) + entryBytes
}

/** The streams that the network announces: what is not stored yet, and what is no longer announced. */

import { newStream, type SearchSource, type StoredStream, searchSources } from '../domain/audio/audio-stream.ts'
import type { StreamDescription } from '../domain/audio/sdp.ts'
import type { Unstored } from '../domain/versions.ts'
import { describeStream, FoundStreams, fromDescription } from './found-streams.ts'
import type { Announcement } from './worker-messages.ts'

interface Pending {
  readonly source: SearchSource
  readonly description: StreamDescription
  readonly interface: string | null
}

/** The changes that announcements cause. */
export interface AnnouncedChanges {
  readonly added: readonly Unstored<StoredStream>[]
  readonly changed: readonly StoredStream[]
  readonly removed: readonly StoredStream[]
}

/** The most streams in the list that were found. */
export const maxFound = 500
/** More announcements are discarded, and announced again later: a flood of ever new streams must not occupy the database. */
const maxPending = 20

export class AnnouncedStreams {
  readonly #streams: ReadonlyMap<number, StoredStream>
  readonly #found = new FoundStreams()
  /** Announcements that are not stored yet, by key. */
  readonly #pending = new Map<string, Pending>()

  /** `streams` is the list, as it changes. */
  constructor(streams: ReadonlyMap<number, StoredStream>) {
    this.#streams = streams
  }

  /** Streams in the list that were found. */
  list(): StoredStream[] {
    return [...this.#streams.values()].filter(wasFound)
  }

  /** False if it was found and is no longer announced. */
  isAnnounced(stream: StoredStream): boolean {
    return !wasFound(stream) || this.#found.has(stream.key ?? '')
  }

  /** A stream is in the list: if it was found, it expires unless it is announced again. */
  listed(stream: StoredStream): void {
    if (stream.key !== null && wasFound(stream)) this.#found.announced(stream.key, stream.source, performance.now())
  }

  withdrawn({ key }: StoredStream): void {
    if (key !== null) this.#found.withdrawn(key)
  }

  clear(): void {
    this.#found.clear()
    this.#pending.clear()
  }

  announced(announcement: Announcement): void {
    const { sender, source } = announcement
    if (announcement.type === 'deletion') {
      const prefix = `${sender} ${announcement.key} `
      for (const key of this.#pending.keys()) if (key.startsWith(prefix)) this.#pending.delete(key)
      for (const stream of this.#streams.values()) if (stream.key?.startsWith(prefix)) this.withdrawn(stream)
      return
    }
    for (const description of announcement.streams) {
      const key = `${sender} ${description.key}`
      const stream = this.#findByKey(key)
      if (stream !== undefined) this.#found.announced(key, source, performance.now())
      // The way in which it was found first decides, so that two that differ do not change it again and again.
      if (stream !== undefined && stream.source !== source) continue
      const found = { source, description, interface: announcement.interface }
      const isUnchanged = stream !== undefined && describeStream(stream, description, found.interface) === stream
      const mostPending = source === 'sap' ? maxPending : maxFound
      if (!isUnchanged && (this.#pending.has(key) || this.#pending.size < mostPending)) this.#pending.set(key, found)
    }
  }

  /** Returns what was announced since the last call, and what is no longer announced. Streams that are kept stay. */
  takeChanges(isKept: (stream: StoredStream) => boolean): AnnouncedChanges {
    const now = performance.now()
    this.#found.expire(now)
    const listed = this.list()
    const withdrawn = listed.filter((stream) => !this.isAnnounced(stream) && !isKept(stream))
    const added: Unstored<StoredStream>[] = []
    const changed: StoredStream[] = []
    const displaced: StoredStream[] = []
    let free = maxFound - listed.length + withdrawn.length
    const removable = this.#found
      .listOldest(listed, now)
      .filter((stream) => !isKept(stream) && !withdrawn.includes(stream))
    for (const [key, { source, description, interface: address }] of this.#pending) {
      const stream = this.#findByKey(key)
      if (stream !== undefined) {
        changed.push(describeStream(stream, description, address))
        continue
      }
      const oldest = free > 0 ? undefined : removable.shift()
      if (free <= 0 && oldest === undefined) continue
      if (oldest === undefined) free--
      else displaced.push(oldest)
      added.push({ ...newStream, ...fromDescription(description, address), key, source })
    }
    this.#pending.clear()
    return { added, changed, removed: [...withdrawn, ...displaced] }
  }

  #findByKey(key: string): StoredStream | undefined {
    return [...this.#streams.values()].find((stream) => stream.key === key)
  }
}

function wasFound({ source }: StoredStream): boolean {
  return searchSources.some((found) => found === source)
}

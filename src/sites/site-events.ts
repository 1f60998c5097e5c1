/**
 * Stores the events of a followed installation: those that it announces, and after every connection those that it has
 * recorded since the last one.
 */

import type { FollowedEvent, FollowedMessage } from '../contract/followed-messages.ts'
import type { FollowedRecord } from '../domain/sites/followed.ts'
import { eventSubject, type FollowedIds, toFollowedEvent } from '../domain/sites/followed.ts'
import type { EventLog } from '../history/event-log.ts'
import type { DroppedParts } from '../manufacturers/plugin.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { now } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { pause } from '../platform/wait.ts'
import type { Database, Tx } from '../storage/database.ts'
import { deleteFollowedEvents, findNewestTime, saveFollowedEvents } from '../storage/followed-sites.ts'

/** A connected installation. */
export interface FollowedInstallation extends FollowedIds {
  readonly record: FollowedRecord
  /** Checks in a transaction that this process still holds the lease of the source. */
  guard(tx: Tx): Promise<void>
}

interface ReadOptions {
  readonly signal: AbortSignal
  onDropped(dropped: DroppedParts): void
}

type EventMessage = Extract<FollowedMessage, { type: 'event' | 'event_changed' | 'event_deleted' }>

export function isEventMessage(message: FollowedMessage): message is EventMessage {
  return message.type === 'event' || message.type === 'event_changed' || message.type === 'event_deleted'
}

const eventsPerPage = 500
/** Of a site that has not been followed before, only the newest events are read. */
const firstPages = 2
const maxPages = 20
/** Events are announced up to this long after their time. */
const overlapMs = 60_000
const retryMs = 5000

export class SiteEvents {
  readonly #db: Database
  readonly #events: EventLog
  readonly #log: Log
  /** The time of the newest event that was stored before the connection; null if there was none. */
  #since: Promise<number | null> | null = null
  #isCaughtUp = false

  constructor(db: Database, events: EventLog, log: Log) {
    this.#db = db
    this.#events = events
    this.#log = log
  }

  /** The connection was lost, so events may be missed. */
  lost(): void {
    this.#isCaughtUp = false
  }

  async apply(site: FollowedInstallation, messages: readonly EventMessage[]): Promise<void> {
    if (messages.length === 0) return
    // The time is read before newer events are stored.
    await this.#readSince(site)
    await this.#change(site, async (tx) => {
      for (const message of messages) {
        if (message.type === 'event_deleted')
          await deleteFollowedEvents(tx, eventSubject(site.record, message.id), now())
        else await saveFollowedEvents(tx, toDrafts(site, [message.event]))
      }
    })
  }

  /** Reads and stores the events before the connection. Retries until the connection is lost. */
  async catchUp(site: FollowedInstallation, source: MonitoredSource, options: ReadOptions): Promise<void> {
    const { signal } = options
    while (!signal.aborted) {
      try {
        const since = await this.#readSince(site)
        const pages = await readPages(source, since, options)
        // The oldest are stored first, so that none is missed if the process ends meanwhile.
        for (const page of pages.reverse()) {
          await this.#change(site, (tx) => saveFollowedEvents(tx, toDrafts(site, page.toReversed())))
        }
        this.#since = null
        this.#isCaughtUp = true
        return
      } catch (error) {
        const { code } = site.record
        if (!signal.aborted) this.#log.debug({ site: code, error: String(error) }, 'events were not received')
        await pause(retryMs, signal)
      }
    }
  }

  async #readSince({ record }: FollowedInstallation): Promise<number | null> {
    if (this.#isCaughtUp) return null
    this.#since ??= findNewestTime(this.#db.read, record.code)
    try {
      return await this.#since
    } catch (error) {
      this.#since = null
      throw error
    }
  }

  async #change({ guard }: FollowedInstallation, work: (tx: Tx) => Promise<void>): Promise<void> {
    await this.#db.transaction(async (tx) => {
      await guard(tx)
      await work(tx)
    })
    await this.#events.load()
  }
}

function toDrafts(site: FollowedInstallation, bodies: readonly FollowedEvent[]) {
  return bodies.flatMap((body) => toFollowedEvent(body, site.record, site) ?? [])
}

/** Returns pages of events, newest first. */
async function readPages(
  { client, adapter }: MonitoredSource,
  since: number | null,
  options: ReadOptions,
): Promise<(readonly FollowedEvent[])[]> {
  const pages: (readonly FollowedEvent[])[] = []
  const query = new URLSearchParams({ limit: String(eventsPerPage) })
  if (since !== null) query.set('from', new Date(since - overlapMs).toISOString())
  let path: string | null = `/api/events/?${query}`
  while (path !== null && pages.length < (since === null ? firstPages : maxPages)) {
    const page = await adapter.readEvents?.(client, path, options)
    if (page === undefined) break
    pages.push(page.results)
    path = nextPath(page.next)
  }
  return pages
}

/** Returns the path of the next page without the path prefix of the other installation, which the client adds. */
function nextPath(next: string | null): string | null {
  const start = next?.indexOf('/api/events/') ?? -1
  return next === null || start < 0 ? null : next.slice(start)
}

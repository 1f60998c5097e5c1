import type { OwnReceivers } from '../conditions/own-receivers.ts'
import { type CastChanges, planCast, type ReceivedPack } from '../domain/equipment/cast-following.ts'
import { type Assignment, setActive } from '../domain/equipment/hardware.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { emptyFields } from '../domain/equipment/slot-entry.ts'
import { compareAssignments } from '../domain/events/event-drafts.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { PlaceholderStore } from '../ingest/placeholder-store.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { UnitStore } from '../ingest/unit-store.ts'
import { now } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Tx } from '../storage/database.ts'
import { insertEvents } from '../storage/events.ts'
import {
  insertAssignment,
  listActiveAssignments,
  listAssignments,
  lockUnits,
  saveAssignment,
} from '../storage/hardware.ts'
import { findSlotEntry, saveSlotEntry } from '../storage/slot-entries.ts'
import type { Loader } from './loader.ts'
import type { StoredLists } from './stored-lists.ts'

/** A pack that is on the air for a shorter time is not assigned. */
const receivedForMs = 5000
const stepMs = 250
const retryAfterMs = 1000

interface Reception {
  readonly unit: number
  readonly receiver: number
  /** `performance.now()`. */
  readonly since: number
}

interface Subsystems {
  readonly receiverStore: ReceiverStore
  readonly ownReceivers: OwnReceivers
  readonly placeholderStore: PlaceholderStore
  readonly unitStore: UnitStore
  readonly lists: StoredLists
  readonly loader: Loader
  readonly ingest: Ingest
  readonly log: Log
}

/** Assigns the performers of slots to the packs that their channels receive in this process. */
export class CastFollower {
  readonly #service: Subsystems
  /** By channel. */
  readonly #receptions = new Map<number, Reception>()
  #timer: NodeJS.Timeout | undefined
  #dueAt = Number.POSITIVE_INFINITY
  #running: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(service: Subsystems) {
    this.#service = service
  }

  start(): void {
    const { receiverStore, ownReceivers, unitStore, placeholderStore, loader } = this.#service
    const check = (id: number) => {
      const receiver = receiverStore.facts(id)
      if (receiver !== undefined) this.#receiverChanged(receiver, true)
    }
    for (const id of ownReceivers.ids()) check(id)
    receiverStore.changed.subscribe(({ before, after }) => {
      const receiver = after ?? before
      if (receiver !== undefined) this.#receiverChanged(receiver, after !== undefined)
    })
    unitStore.channelsChanged.subscribe(check)
    placeholderStore.changed.subscribe(() => this.#schedule(performance.now()))
    loader.listsChanged.subscribe(() => this.#schedule(performance.now()))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#running
  }

  #receiverChanged(receiver: Receiver, isKnown: boolean): void {
    const { ownReceivers, unitStore } = this.#service
    const isReceiving = isKnown && receiver.is_active && ownReceivers.has(receiver.id)
    for (const { id, transmitter } of receiver.channels) {
      const unit = isReceiving && transmitter !== null ? unitStore.ofChannel(id)?.id : undefined
      if (unit === undefined) this.#receptions.delete(id)
      else if (this.#receptions.get(id)?.unit !== unit) {
        const since = performance.now()
        this.#receptions.set(id, { unit, receiver: receiver.id, since })
        this.#schedule(since + receivedForMs)
      }
    }
  }

  /** Packs that are due within the same step are followed together. */
  #schedule(at: number): void {
    const dueAt = Math.ceil(at / stepMs) * stepMs
    if (this.#isClosed || dueAt >= this.#dueAt) return
    clearTimeout(this.#timer)
    this.#dueAt = dueAt
    this.#timer = setTimeout(() => {
      this.#dueAt = Number.POSITIVE_INFINITY
      this.#running = this.#running.then(() => this.#follow())
    }, dueAt - performance.now())
  }

  async #follow(): Promise<void> {
    const { lists, ingest, loader, log } = this.#service
    for (const { since } of this.#receptions.values()) {
      if (since + receivedForMs > performance.now()) this.#schedule(since + receivedForMs)
    }
    try {
      if (this.#isClosed || !hasChanges(this.#plan(lists.current.assignments))) return
      await ingest.change((tx) => this.#write(tx))
      await loader.reload()
    } catch (error) {
      log.debug({ error: String(error) }, 'performers could not be assigned to the packs in their slots')
      this.#schedule(performance.now() + retryAfterMs)
    }
  }

  #plan(assignments: readonly Assignment[]): CastChanges {
    const { placeholderStore, unitStore } = this.#service
    const received = this.#listReceived()
    return planCast(received, {
      entries: placeholderStore.entries().filter(({ performer }) => performer !== null),
      assignments,
      slotOf: (channel) => this.#slotOf(channel),
      unitOf: (channel) => unitStore.ofChannel(channel)?.id,
      channelOf: (id) => {
        const unit = unitStore.get(id)
        return unit === undefined || unit.api_device_id !== null ? undefined : unit.channel_id
      },
    })
  }

  #listReceived(): readonly ReceivedPack[] {
    const { receiverStore, ownReceivers } = this.#service
    const startedBefore = performance.now() - receivedForMs
    return [...this.#receptions].flatMap(([channel, { unit, receiver, since }]) => {
      const channels = ownReceivers.has(receiver) ? receiverStore.facts(receiver)?.channels : undefined
      const slot = channels?.find(({ id }) => id === channel)?.slot
      return since > startedBefore || slot === undefined ? [] : { channel, unit, slot }
    })
  }

  #slotOf(channelId: number): number {
    const channels = this.#service.receiverStore.listFacts().flatMap(({ channels }) => channels)
    return channels.find(({ id }) => id === channelId)?.slot ?? Number.POSITIVE_INFINITY
  }

  async #write(tx: Tx): Promise<void> {
    await lockUnits(tx)
    const { ended, started, entered } = this.#plan(await listAssignments(tx.query, { is_active: true }))
    const time = now()
    const before = await listActiveAssignments(tx.query)
    for (const assignment of ended) await saveAssignment(tx, setActive(assignment, false, time))
    for (const assignment of started) await startAssignment(tx, assignment, time)
    for (const { channel, performer, role } of entered) {
      const holder = { kind: 'channel', id: channel } as const
      const entry = (await findSlotEntry(tx.query, holder)) ?? emptyFields
      await saveSlotEntry(tx, holder, { ...entry, performer, role })
    }
    const after = await listActiveAssignments(tx.query)
    await insertEvents(tx, compareAssignments(before, after, { time, by: null }))
  }
}

/** Continues the last assignment of this performer and unit, so that packs that alternate do not fill the table. */
async function startAssignment(tx: Tx, started: CastChanges['started'][number], time: number): Promise<void> {
  const { performer, wireless_unit, role } = started
  const earlier = (await listAssignments(tx.query, { performer, wireless_unit })).at(-1)
  if (earlier !== undefined) await saveAssignment(tx, { ...setActive(earlier, true, time), role })
  else await insertAssignment(tx, { ...started, is_active: true, started_at: time, ended_at: null })
}

function hasChanges({ ended, started, entered }: CastChanges): boolean {
  return ended.length + started.length + entered.length > 0
}

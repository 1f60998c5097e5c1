import type { OwnReceivers } from '../conditions/own-receivers.ts'
import { type CastChanges, planCast, type ReceivedPack } from '../domain/equipment/cast-following.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { PlaceholderStore } from '../ingest/placeholder-store.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { UnitStore } from '../ingest/unit-store.ts'
import { now } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { followPacks } from '../storage/cast.ts'
import type { Cast } from './cast.ts'
import type { SlotRecords } from './slot-records.ts'

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
  readonly cast: Cast
  readonly slotRecords: SlotRecords
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
    const { receiverStore, ownReceivers, unitStore, placeholderStore, cast } = this.#service
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
    for (const topic of [placeholderStore.changed, cast.assignmentsChanged]) {
      topic.subscribe(() => this.#schedule(performance.now()))
    }
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
    const { ingest, log } = this.#service
    for (const { since } of this.#receptions.values()) {
      if (since + receivedForMs > performance.now()) this.#schedule(since + receivedForMs)
    }
    try {
      if (this.#isClosed || !hasChanges(this.#plan())) return
      // Planned again, because memory matches the database only in the transaction.
      await ingest.change((tx) => followPacks(tx, this.#plan(), now()))
    } catch (error) {
      log.debug({ error: String(error) }, 'performers could not be assigned to the packs in their slots')
      this.#schedule(performance.now() + retryAfterMs)
    }
  }

  #plan(): CastChanges {
    const { slotRecords, cast, unitStore } = this.#service
    const slots = [...slotRecords.current().values()].flatMap(
      ({ slot, channel_id: channel, unit_id: unit, performer, role }) =>
        channel === null || performer === null ? [] : { slot, channel, unit, performer: performer.id, role },
    )
    const assignments = cast.active().flatMap((assignment) => {
      const unit = unitStore.get(assignment.wireless_unit)
      return unit === undefined || unit.api_device_id !== null ? [] : { ...assignment, channel_id: unit.channel_id }
    })
    return planCast({ slots, assignments }, this.#listReceived())
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
}

function hasChanges({ ended, started, changed, entered }: CastChanges): boolean {
  return ended.length + started.length + changed.length + entered.length > 0
}

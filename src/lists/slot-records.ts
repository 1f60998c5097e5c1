import type { SlotRecord } from '../contract/slots.ts'
import type { Channel, Receiver } from '../domain/equipment/receiver.ts'
import { type EquipmentFilter, includesSite } from '../domain/equipment/sites.ts'
import {
  changesRecords,
  type Title,
  titleOfChannel,
  toChannelRecord,
  toPlaceholderRecord,
} from '../domain/equipment/slot-record.ts'
import type { NamedChannel } from '../domain/events/channel-events.ts'
import { isSameJson } from '../domain/json.ts'
import type { PlaceholderStore } from '../ingest/placeholder-store.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { UnitStore } from '../ingest/unit-store.ts'
import type { Cast } from './cast.ts'

/** A record that does not change keeps its object. */
export type SlotRecordMap = ReadonlyMap<number, SlotRecord>

/**
 * The records of all slots that hold a channel or a placeholder. They are computed when they are read; of a changed
 * receiver, only its own slots are computed again.
 */
export class SlotRecords {
  readonly #receiverStore: ReceiverStore
  readonly #placeholderStore: PlaceholderStore
  readonly #unitStore: UnitStore
  readonly #cast: Cast
  #records: SlotRecordMap = new Map()
  readonly #receiverOf = new Map<number, number>()
  readonly #slotsOf = new Map<number, readonly number[]>()
  #isStale = true
  readonly #changedReceivers = new Set<number>()

  constructor(receiverStore: ReceiverStore, placeholderStore: PlaceholderStore, unitStore: UnitStore, cast: Cast) {
    this.#receiverStore = receiverStore
    this.#placeholderStore = placeholderStore
    this.#unitStore = unitStore
    this.#cast = cast
    receiverStore.changed.subscribe(({ id, before, after }) => {
      if (changesRecords(before, after)) this.#changedReceivers.add(id)
    })
    unitStore.channelsChanged.subscribe((receiverId) => this.#changedReceivers.add(receiverId))
    for (const topic of [placeholderStore.changed, cast.performersChanged]) {
      topic.subscribe(() => {
        this.#isStale = true
      })
    }
  }

  /** The records by slot. */
  current(): SlotRecordMap {
    if (this.#isStale) this.#compute(this.#receiverStore.listAllFacts(), true)
    else if (this.#changedReceivers.size > 0) {
      const changed = [...this.#changedReceivers].flatMap((id) => this.#receiverStore.facts(id) ?? [])
      this.#compute(changed, false)
    }
    return this.#records
  }

  find(slot: number): SlotRecord | undefined {
    return this.current().get(slot)
  }

  titleOf(receiver: Receiver, channel: Channel): Title {
    const record = this.find(channel.slot)
    return record?.channel_id === channel.id ? record : titleOfChannel(receiver, channel)
  }

  nameChannel(receiver: Receiver, channel: Channel): NamedChannel {
    return { receiver, channel, title: this.titleOf(receiver, channel) }
  }

  /** Lists the records by slot. A filter by manufacturer excludes placeholders. */
  list(filter: EquipmentFilter = {}): SlotRecord[] {
    const records = [...this.current().values()].filter(({ slot }) => this.isIncluded(slot, filter))
    return records.sort((a, b) => a.slot - b.slot)
  }

  isIncluded(slot: number, { manufacturer, site }: EquipmentFilter): boolean {
    const receiver = this.receiverIn(slot)
    if (manufacturer !== undefined && receiver?.manufacturer !== manufacturer) return false
    return includesSite({ site }, receiver?.origin?.site.code ?? null)
  }

  /** The receiver of the channel in a slot. */
  receiverIn(slot: number): Receiver | undefined {
    this.current()
    const id = this.#receiverOf.get(slot)
    return id === undefined ? undefined : this.#receiverStore.facts(id)
  }

  #compute(receivers: readonly Receiver[], isComplete: boolean): void {
    const before = this.#records
    const records = new Map(isComplete ? [] : before)
    for (const id of isComplete ? [...this.#slotsOf.keys()] : this.#changedReceivers) this.#removeReceiver(id, records)
    this.#isStale = false
    this.#changedReceivers.clear()
    const performers = new Map(this.#cast.performers().map((performer) => [performer.id, performer]))
    const enteredAbout = (kind: 'channel' | 'placeholder', id: number) => {
      const entry = this.#placeholderStore.entryOf({ kind, id })
      return { entry, performer: performers.get(entry?.performer ?? 0) }
    }
    const put = (record: SlotRecord) => {
      const known = before.get(record.slot)
      records.set(record.slot, known !== undefined && isSameJson(known, record) ? known : record)
    }
    for (const receiver of receivers) {
      for (const channel of receiver.channels) {
        const unitId = this.#unitStore.ofChannel(channel.id)?.id ?? null
        put(toChannelRecord(receiver, channel, enteredAbout('channel', channel.id), unitId))
        this.#receiverOf.set(channel.slot, receiver.id)
      }
      this.#slotsOf.set(
        receiver.id,
        receiver.channels.map(({ slot }) => slot),
      )
    }
    if (isComplete) {
      for (const placeholder of this.#placeholderStore.list()) {
        put(toPlaceholderRecord(placeholder, enteredAbout('placeholder', placeholder.id)))
        // A channel that is leaving the slot may still be known there.
        this.#receiverOf.delete(placeholder.slot)
      }
    }
    this.#records = records
  }

  /** Keeps the record of a slot that something else holds now. */
  #removeReceiver(id: number, records: Map<number, SlotRecord>): void {
    for (const slot of this.#slotsOf.get(id) ?? []) {
      if (this.#receiverOf.get(slot) !== id) continue
      this.#receiverOf.delete(slot)
      records.delete(slot)
    }
    this.#slotsOf.delete(id)
  }
}

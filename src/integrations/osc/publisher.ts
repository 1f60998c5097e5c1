/**
 * Compares the slots with the last sent values ten times a second, and sends due values to every peer. A pass over the slots
 * yields to the event loop, and only slots whose records were replaced are compared.
 */

import type { OscStrips } from '../../config/integrations.ts'
import type { AlertBody } from '../../contract/alerts.ts'
import type { Channel } from '../../domain/equipment/receiver.ts'
import type { Placeholder } from '../../domain/equipment/slots.ts'
import {
  type OscSlot,
  placeholderToOscSlot,
  SentValues,
  toAlertOscMessage,
  toOscSlot,
  toSlotMessages,
  toStripMessages,
} from '../../domain/osc/slot-messages.ts'
import type { PlaceholderStore } from '../../ingest/placeholder-store.ts'
import type { ReceiverStore } from '../../ingest/receiver-store.ts'
import type { SlotRecords } from '../../lists/slot-records.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../../platform/time-slice.ts'
import { pause } from '../../platform/wait.ts'
import { type OscPeer, PeerMessage } from './peers.ts'

const tickMs = 100
const ticksPerRefresh = 100

/** The last messages about a channel or a placeholder. */
interface Sent {
  /** Replaced when anything changes. */
  readonly record: Channel | Placeholder
  readonly title: string | null
  readonly slot: OscSlot
  /** The pass that sent or confirmed it. */
  pass: number
}

interface StripOutput {
  readonly strips: OscStrips
  readonly peer: OscPeer
  readonly sent: SentValues
}

export class OscPublisher {
  readonly #receiverStore: ReceiverStore
  readonly #placeholderStore: PlaceholderStore
  readonly #slotRecords: SlotRecords
  readonly #peers = new Set<OscPeer>()
  /** Peers to which the next pass sends all values. */
  readonly #awaiting = new Set<OscPeer>()
  readonly #strips = new Set<StripOutput>()
  /** By `channel <id>` or `placeholder <id>`. */
  readonly #sent = new Map<string, Sent>()
  #pass = 0

  constructor(receiverStore: ReceiverStore, placeholderStore: PlaceholderStore, slotRecords: SlotRecords) {
    this.#receiverStore = receiverStore
    this.#placeholderStore = placeholderStore
    this.#slotRecords = slotRecords
  }

  /** Consoles do not count, because no levels are sent to them. */
  get hasPeers(): boolean {
    return this.#peers.size > 0
  }

  /** Compares until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (await pause(tickMs, signal)) await this.tick()
  }

  /** Sends every change, and all values at the next tick, until the returned function is called. */
  addPeer(peer: OscPeer, { sendsAll } = { sendsAll: true }): () => void {
    this.#peers.add(peer)
    if (sendsAll) this.sendAll(peer)
    return () => {
      this.#peers.delete(peer)
      this.#awaiting.delete(peer)
      peer.close()
    }
  }

  /** Sends all values at the next tick. */
  sendAll(peer: OscPeer): void {
    this.#awaiting.add(peer)
  }

  /** Writes names and colors to the strips of a console. Returns a function that ends this. */
  addStrips(strips: OscStrips, peer: OscPeer): () => void {
    const output = { strips, peer, sent: new SentValues(ticksPerRefresh) }
    this.#strips.add(output)
    return () => {
      this.#strips.delete(output)
      peer.close()
    }
  }

  alertChanged(alert: AlertBody): void {
    const message = toAlertOscMessage(alert)
    if (message === null) return
    const packet = new PeerMessage(message)
    for (const peer of this.#peers) peer.put(`${message.address} ${alert.id}`, packet)
  }

  /** Sends due values to every peer. Called by `run`; public for tests. */
  async tick(): Promise<void> {
    if (this.#peers.size + this.#strips.size === 0) return
    this.#pass += 1
    const awaiting = new Set(this.#awaiting)
    this.#awaiting.clear()
    for (const { id } of this.#receiverStore.listFacts()) {
      if (isTimeSliceUsed()) await yieldToEventLoop()
      const receiver = this.#receiverStore.get(id)
      if (receiver === undefined) continue
      for (const channel of receiver.channels) {
        const { title } = this.#slotRecords.titleOf(receiver, channel)
        this.#visit(`channel ${channel.id}`, channel, { awaiting, title, toSlot: toOscSlot })
      }
    }
    for (const placeholder of this.#placeholderStore.list()) {
      if (isTimeSliceUsed()) await yieldToEventLoop()
      const title = this.#slotRecords.find(placeholder.slot)?.title ?? null
      this.#visit(`placeholder ${placeholder.id}`, placeholder, { awaiting, title, toSlot: placeholderToOscSlot })
    }
    for (const [key, { pass }] of this.#sent) if (pass !== this.#pass) this.#sent.delete(key)
    this.#sendStrips()
  }

  /** Sends the due values of a record. The repetitions are spread over the passes. */
  #visit<T extends Channel | Placeholder>(key: string, record: T, options: VisitOptions<T>): void {
    const { awaiting, title, toSlot } = options
    const last = this.#sent.get(key)
    const isRefreshDue = (this.#pass + record.id) % ticksPerRefresh === 0
    const isSame = last?.record === record && last.title === title
    const slot = isSame ? last.slot : toSlot(record, title)
    if (isSame) last.pass = this.#pass
    else this.#sent.set(key, { record, title, slot, pass: this.#pass })
    const needsAll = isRefreshDue || awaiting.size > 0
    if (isSame && !needsAll) return
    const all = needsAll ? toSlotMessages(slot).map((message) => new PeerMessage(message)) : []
    const changed = isRefreshDue
      ? all
      : isSame
        ? []
        : toSlotMessages(slot, last?.slot).map((one) => new PeerMessage(one))
    for (const peer of this.#peers) {
      for (const message of awaiting.has(peer) ? all : changed) peer.put(message.address, message)
    }
  }

  #sendStrips(): void {
    if (this.#strips.size === 0) return
    const bySlot = new Map([...this.#sent.values()].map(({ slot }) => [slot.slot, slot]))
    for (const { strips, peer, sent } of this.#strips) {
      const messages = [...strips.slots].flatMap(([channel, number]) => {
        const slot = bySlot.get(number)
        return slot === undefined ? [] : toStripMessages(strips.type, channel, slot)
      })
      for (const message of sent.next(messages)) peer.put(message.address, new PeerMessage(message))
    }
  }
}

interface VisitOptions<T> {
  /** Peers that get all values. */
  readonly awaiting: ReadonlySet<OscPeer>
  readonly title: string | null
  toSlot(record: T, title: string | null): OscSlot
}

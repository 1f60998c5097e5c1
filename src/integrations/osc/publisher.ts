/** Compares the slots ten times a second with what was sent, and gives every peer what is due. */

import type { OscStrips } from '../../config/integrations.ts'
import type { AlertBody } from '../../contract/resources/alerts.ts'
import type { Placeholder } from '../../domain/equipment/placeholder.ts'
import type { Channel, Receiver } from '../../domain/equipment/receiver.ts'
import { encodeMessage, type OscMessage } from '../../domain/osc/packet.ts'
import { SentValues } from '../../domain/osc/sent-values.ts'
import {
  type OscSlot,
  placeholderToOscSlot,
  toAlertOscMessage,
  toOscSlot,
  toSlotMessages,
  toStripMessages,
} from '../../domain/osc/slot-messages.ts'
import { pause } from '../../monitoring/wait.ts'
import type { OscPeer } from './peers.ts'

export interface PublisherDeps {
  receivers(): readonly Receiver[]
  placeholders(): readonly Placeholder[]
}

const tickMs = 100
const ticksPerRefresh = 100

interface Described {
  readonly slot: OscSlot
  readonly messages: readonly OscMessage[]
}

interface StripOutput {
  readonly strips: OscStrips
  readonly peer: OscPeer
  readonly sent: SentValues
}

export class OscPublisher {
  readonly #deps: PublisherDeps
  readonly #peers = new Set<OscPeer>()
  readonly #strips = new Set<StripOutput>()
  readonly #sent = new SentValues(ticksPerRefresh)
  /** Records are replaced when anything changes, so what was made from them can be kept. */
  readonly #described = new WeakMap<Channel | Placeholder, Described>()

  constructor(deps: PublisherDeps) {
    this.#deps = deps
  }

  /** Compares until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (await pause(tickMs, signal)) this.tick()
  }

  /** Sends all values now, and every change from now on. Returns a function that ends this. */
  addPeer(peer: OscPeer): () => void {
    this.sendAll(peer)
    this.#peers.add(peer)
    return () => {
      this.#peers.delete(peer)
      peer.close()
    }
  }

  sendAll(peer: OscPeer): void {
    for (const message of this.#listMessages()) peer.put(message.address, encodeMessage(message))
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
    const packet = encodeMessage(message)
    for (const peer of this.#peers) peer.put(`${message.address} ${alert.id}`, packet)
  }

  /** Gives every peer what is due. Called by `run`; public for tests. */
  tick(): void {
    if (this.#peers.size > 0) {
      for (const message of this.#sent.next(this.#listMessages())) {
        const packet = encodeMessage(message)
        for (const peer of this.#peers) peer.put(message.address, packet)
      }
    }
    for (const { strips, peer, sent } of this.#strips) {
      for (const message of sent.next(this.#listStripMessages(strips)))
        peer.put(message.address, encodeMessage(message))
    }
  }

  #listDescribed(): Described[] {
    const channels = this.#deps.receivers().flatMap((receiver) => receiver.channels)
    return [
      ...channels.map((channel) => this.#describe(channel, toOscSlot)),
      ...this.#deps.placeholders().map((placeholder) => this.#describe(placeholder, placeholderToOscSlot)),
    ]
  }

  #describe<T extends Channel | Placeholder>(record: T, toSlot: (record: T) => OscSlot): Described {
    const known = this.#described.get(record)
    if (known !== undefined) return known
    const slot = toSlot(record)
    const described = { slot, messages: toSlotMessages(slot) }
    this.#described.set(record, described)
    return described
  }

  #listMessages(): OscMessage[] {
    return this.#listDescribed().flatMap(({ messages }) => messages)
  }

  #listStripMessages({ type, slots }: OscStrips): OscMessage[] {
    const bySlot = new Map(this.#listDescribed().map(({ slot }) => [slot.slot, slot]))
    return [...slots].flatMap(([channel, number]) => {
      const slot = bySlot.get(number)
      return slot === undefined ? [] : toStripMessages(type, channel, slot)
    })
  }
}

/** OSC: values to targets, subscribers and consoles, and commands from others. */

import type { OscConfig } from '../../config/integrations.ts'
import type { AlertBody } from '../../contract/alerts.ts'
import type { ReceivedMessage } from '../../domain/osc/packet.ts'
import { parseCommand } from '../../domain/osc/packet.ts'
import { createOscCounters } from '../../platform/counters.ts'
import type { Service } from '../../service.ts'
import { OscCommands } from './commands.ts'
import { OscListener, type OscOrigin, type PacketCounters } from './listener.ts'
import { OscPublisher } from './publisher.ts'
import { OscSubscriptions } from './subscriptions.ts'
import { runTarget } from './targets.ts'

export class Osc {
  readonly #config: OscConfig
  readonly #counters: PacketCounters
  readonly #service: Service
  readonly #publisher: OscPublisher
  readonly #subscriptions: OscSubscriptions
  readonly #commands: OscCommands
  readonly #listener: OscListener | null

  constructor(config: OscConfig, service: Service) {
    const { listen, accept } = config
    const { receiverStore, placeholderStore, slotRecords, log, outbound } = service
    this.#config = config
    this.#service = service
    this.#counters = createOscCounters(service.counters)
    this.#publisher = new OscPublisher(receiverStore, placeholderStore, slotRecords)
    this.#subscriptions = new OscSubscriptions(this.#publisher, log)
    this.#commands = new OscCommands(service, this.#counters)
    this.#listener = listen && new OscListener(listen, accept, this.#counters, log)
    this.#listener?.received.subscribe(({ message, origin }) => this.#receive(message, origin))
    this.#listener?.closed.subscribe((key) => this.#subscriptions.unsubscribe(key))
    // Nothing is sent to this port, so that packets do not circulate.
    if (listen !== null) outbound.destinations.blockListener(listen.host, listen.port)
  }

  get hasTargets(): boolean {
    return this.#config.targets.length + this.#config.strips.length > 0
  }

  /** True while levels are sent to targets or subscribers. */
  get hasPeers(): boolean {
    return this.#publisher.hasPeers
  }

  /** The reason why OSC cannot be received; null without one, or without a listener. */
  get problem(): string | null {
    return this.#listener?.problem ?? null
  }

  alertChanged(alert: AlertBody): void {
    this.#publisher.alertChanged(alert)
  }

  /** Receives, and sends to subscribers, until the signal aborts. Every process that can listen runs this. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#publisher.run(signal), this.#subscriptions.run(signal), this.#listener?.run(signal)])
    await this.#commands.idle()
  }

  /** Sends to the targets and consoles until the signal aborts. Only one process of an installation runs this. */
  async publish(signal: AbortSignal): Promise<void> {
    const { targets, strips } = this.#config
    await Promise.all([
      ...targets.map((target) => runTarget(this.#service, target, (peer) => this.#publisher.addPeer(peer), signal)),
      ...strips.map((entry) =>
        runTarget(this.#service, entry, (peer) => this.#publisher.addStrips(entry, peer), signal),
      ),
    ])
  }

  #receive(message: ReceivedMessage, origin: OscOrigin): void {
    const command = parseCommand(message)
    if (command === 'unknown') return
    if (command === 'malformed') this.#counters.countBad()
    else if (command.type !== 'subscribe') {
      if (origin.isLoopback || this.#config.allow_commands) this.#commands.add(command, origin.address)
    } else if (command.isOn) this.#subscriptions.subscribe(origin)
    else this.#subscriptions.unsubscribe(origin.key)
  }
}

/** The configured integrations. One process publishes, while it holds their lease. */

import type { Config } from '../config.ts'
import type { Service } from '../service.ts'
import { MqttPublisher } from './mqtt/mqtt.ts'
import { Osc } from './osc/osc.ts'

const leaseName = 'publisher'

export class Integrations {
  readonly #service: Service
  readonly #osc: Osc | null
  readonly #mqtt: MqttPublisher | null

  constructor(config: Config, service: Service, version: string) {
    this.#service = service
    this.#mqtt = config.mqtt && new MqttPublisher(config.mqtt, service, version)
    this.#osc = config.osc && new Osc(config.osc, service)
    service.alerts.changed.subscribe(({ body, hasOnlyOtherValues }) => {
      // OSC has no values of alerts.
      if (!hasOnlyOtherValues) this.#osc?.alertChanged(body)
      this.#mqtt?.alertChanged(body)
    })
  }

  /** Describes each integration that does not work, in one sentence. */
  get problems(): readonly string[] {
    return [this.#osc?.problem, this.#mqtt?.problem].filter((problem) => problem != null)
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const isSending = () => this.#osc?.hasPeers === true || this.#mqtt?.isPublishing === true
    const removeDemand = this.#service.levelDemand.add(() => (isSending() ? null : []))
    await Promise.all([this.#osc?.run(signal), this.#publish(signal)])
    removeDemand()
  }

  /** Publishes while this process holds the lease. */
  async #publish(signal: AbortSignal): Promise<void> {
    const publishers = [this.#osc?.hasTargets === true ? this.#osc : null, this.#mqtt].filter((one) => one !== null)
    if (publishers.length === 0) return
    await this.#service.leaseManager.runWhileHeld(leaseName, signal, async (lease) => {
      await Promise.all(publishers.map((publisher) => publisher.publish(lease.signal)))
    })
  }
}

/** Makes the lights of a receiver flash for some seconds at a user's request, so that it can be found in its rack. */

import type { Identified } from '../../contract/receivers.ts'
import type { Actor } from '../../domain/access/access.ts'
import type { Receiver } from '../../domain/equipment/receiver.ts'
import { RequestError } from '../../domain/errors.ts'
import { globalScope } from '../../domain/settings.ts'
import { precedenceOfId } from '../../manufacturers/index.ts'
import type { FlashRequest } from '../../manufacturers/plugin.ts'
import { type MonitoredSource, toSourceFailure } from '../../manufacturers/sources.ts'
import { abortWithin } from '../../platform/wait.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { requireLocal } from '../require-local.ts'

export interface IdentifyRequest {
  /** The number of a channel; without it, the whole receiver flashes. */
  readonly channel?: number
  readonly seconds?: number
}

const defaultSeconds = 10

/** A source and what flashes. */
interface Running {
  readonly source: MonitoredSource
  readonly request: FlashRequest
  readonly timer: NodeJS.Timeout
}

export class Identifications {
  readonly #service: Service
  /** By receiver and channel. */
  readonly #running = new Map<string, Running>()

  constructor(service: Service) {
    this.#service = service
    service.signal.addEventListener('abort', () => this.#stopAll(), { once: true })
  }

  /** True if a source that can make the receiver flash reports it. */
  canIdentify(receiver: Receiver): boolean {
    return this.#findSource(receiver) !== undefined
  }

  /** Throws a RequestError if that is not permitted now, the receiver has no lights, or it does not respond. */
  async identify(
    actor: Actor,
    id: number,
    { channel, seconds = defaultSeconds }: IdentifyRequest,
  ): Promise<Identified> {
    const { db, receiverStore } = this.#service
    const receiver = receiverStore.get(id)
    if (receiver === undefined) throw new RequestError('not_found', { subject: `receiver ${id}` })
    requireLocal(receiver)
    this.#requirePermission()
    if (channel !== undefined && !receiver.channels.some((known) => known.channel === channel)) {
      throw new RequestError('bad_request', { details: `channel: ${receiver.name} has no channel ${channel}` })
    }
    const flashing = await this.#flash(receiver, channel ?? null, seconds)
    const target = flashing.channel === null ? `receiver ${id}` : `receiver ${id}, channel ${flashing.channel}`
    await db.transaction((tx) => writeAudit(tx, { actor, action: 'receiver.identify', target, result: 'ok' }))
    return { channel: flashing.channel, seconds }
  }

  #requirePermission(): void {
    const { settings, lists } = this.#service
    const { IDENTIFY, IDENTIFY_DURING_SHOWS } = settings.inScope(globalScope)
    if (!IDENTIFY) {
      throw new RequestError('wrong_state', {
        subject: 'Receivers are not made to flash, because the setting IDENTIFY is off.',
      })
    }
    if (lists.runningShows().length > 0 && !IDENTIFY_DURING_SHOWS) {
      throw new RequestError('wrong_state', {
        subject:
          'A show is running. Receivers are not made to flash, because the setting IDENTIFY_DURING_SHOWS is off.',
      })
    }
  }

  async #flash(receiver: Receiver, channel: number | null, seconds: number) {
    const source = this.#findSource(receiver)
    if (source === undefined || receiver.api_device_id === null) throw cannotFlash(receiver)
    const { api_device_id: deviceId, device_type: deviceType, name } = receiver
    const request: FlashRequest = { deviceId, deviceType, channel, isOn: true }
    const limit = abortWithin(source.client.settings.timeoutMs, this.#service.signal)
    const flashing = await source.adapter.lights?.flash(source.client, request, limit).catch((cause) => {
      throw new RequestError('identify_failed', { subject: name, details: toSourceFailure(cause).error, cause })
    })
    if (flashing == null) throw cannotFlash(receiver)
    this.#stopLater({ source, request: { ...request, ...flashing } }, seconds)
    return flashing
  }

  /** Of several sources, only those under whose id the receiver is known can address it. */
  #findSource({ id, api_device_id, device_type }: Receiver) {
    if (api_device_id === null) return undefined
    const precedence = precedenceOfId(api_device_id)
    const canFlash = ({ adapter }: MonitoredSource) =>
      (adapter.precedence ?? 0) === precedence && adapter.lights?.areIn(device_type) === true
    const reporting = this.#service.receiverSources.list(id)
    return this.#service.sourceRegistry.sources().find((source) => reporting.includes(source.id) && canFlash(source))
  }

  /** A request for lights that flash already extends their time. */
  #stopLater({ source, request }: Omit<Running, 'timer'>, seconds: number): void {
    const key = `${request.deviceId} ${request.channel}`
    clearTimeout(this.#running.get(key)?.timer)
    const timer = setTimeout(() => this.#stop(key), seconds * 1000)
    this.#running.set(key, { source, request, timer })
  }

  #stop(key: string): void {
    const running = this.#running.get(key)
    if (running === undefined) return
    this.#running.delete(key)
    clearTimeout(running.timer)
    const { source, request } = running
    // If the device cannot be reached, its lights flash until its own time limit, or until a button is pressed on it.
    source.adapter.lights?.flash(source.client, { ...request, isOn: false }, abortWithin(stopWithinMs)).catch(() => {})
  }

  #stopAll(): void {
    for (const key of [...this.#running.keys()]) this.#stop(key)
  }
}

const stopWithinMs = 2000

function cannotFlash({ name }: Receiver): RequestError {
  return new RequestError('wrong_state', { subject: `Micwatch cannot flash the lights of ${name}.` })
}

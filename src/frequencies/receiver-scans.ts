/**
 * Scans of the spectrum by receivers. A scan is stored with its receiver before anything is written to the device, and
 * removed when the device is tuned to its frequencies again. So a scan that was cut off by a crash or a lost connection
 * is ended later, by the process that polls the receiver then.
 */

import type { RunningScan } from '../contract/receivers.ts'
import type { Actor } from '../domain/access/access.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { RequestError } from '../domain/errors.ts'
import { toTimestamp } from '../domain/timestamp.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import { precedenceOfId } from '../manufacturers/index.ts'
import type { ScanEvent, ScannerState, ScanRange, SpectrumScanner } from '../manufacturers/plugin.ts'
import { type MonitoredSource, toSourceFailure } from '../manufacturers/sources.ts'
import { now } from '../platform/clock.ts'
import { abortWithin, childLifetime, type Lifetime } from '../platform/wait.ts'
import type { Monitor } from '../sources/monitor.ts'
import type { ReceiverSources } from '../sources/receiver-sources.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'
import { writeAudit } from '../storage/audit.ts'
import { saveReceivers } from '../storage/receivers.ts'
import type { LiveSweeps } from './live-sweeps.ts'

interface Subsystems {
  readonly ingest: Ingest
  readonly monitor: Monitor
  readonly receiverStore: ReceiverStore
  readonly receiverSources: ReceiverSources
  readonly sourceRegistry: SourceRegistry
  readonly sweeps: LiveSweeps
  readonly log: { warn(fields: object, message: string): void }
  /** Aborts when the service stops. */
  readonly signal: AbortSignal
}

export interface RequestedScan extends ScanRange {
  readonly sweeps: number
}

interface ScanningSource {
  readonly source: MonitoredSource
  readonly scanner: SpectrumScanner
}

interface Running {
  readonly source: MonitoredSource
  readonly lifetime: Lifetime
  /** Resolves when the receiver is tuned to its frequencies, or cannot be tuned now. */
  ended: Promise<void>
}

/** A receiver is given this time to end its scan. */
const restoreWithinMs = 5000
const checkEveryMs = 2000
/** The receiver of a scan that was cut off is tried again after this time. */
const retryMs = 10_000

export class ReceiverScans {
  readonly #service: Subsystems
  readonly #running = new Map<number, Running>()
  /** When to end a scan that was cut off (`performance.now()`), by receiver. */
  readonly #retryAt = new Map<number, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(service: Subsystems) {
    this.#service = service
  }

  /** Ends the scans that were cut off, from now on. */
  open(): void {
    this.#timer = setInterval(() => this.#check(), checkEveryMs)
  }

  /** Ends all scans. Resolves when the receivers are tuned to their frequencies, or cannot be tuned now. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all([...this.#running.keys()].map((id) => this.#end(id)))
  }

  /** Returns what the receiver can scan; null if it cannot scan. */
  rangeOf(receiver: Receiver): ScanRange | null {
    return this.#findSource(receiver)?.scanner.rangeOf(receiver.device_type) ?? null
  }

  /** Returns the source of the receiver's sweeps, once the receiver has begun. Throws a RequestError if it does not. */
  async start(actor: Actor, receiver: Receiver, requested: RequestedScan): Promise<string> {
    const { id, name } = receiver
    const { source, scanner } = this.#requireSource(receiver)
    if (this.#running.has(id) || receiver.details?.scanning != null) throw isScanning(name)
    const sweepSource = sweepSourceOf(id)
    this.#service.sweeps.requireRoom(sweepSource)
    const running: Running = { source, lifetime: childLifetime(this.#service.signal), ended: Promise.resolve() }
    this.#running.set(id, running)
    const failed = (cause: unknown) =>
      new RequestError('scan_failed', { subject: name, details: toSourceFailure(cause).error, cause })
    try {
      const { client } = source
      const { signal } = running.lifetime
      const state = await scanner.readState(client, abortWithin(client.settings.timeoutMs, signal)).catch((cause) => {
        throw failed(cause)
      })
      if (state.isScanning) throw isScanning(name)
      if (state.hasTransmitter) throw hasTransmitter(name)
      await this.#store(actor, id, toRunningScan(requested, state))
      const events = scanner.scan(client, requested, signal)
      const first = await events.next().catch((cause) => ({ cause }))
      if ('cause' in first || first.done) {
        await this.#bringBack(id)
        throw 'cause' in first ? failed(first.cause) : isEnded(name)
      }
      running.ended = this.#run(id, events, requested.sweeps)
      return sweepSource
    } catch (error) {
      this.#running.delete(id)
      running.lifetime.abort()
      throw error
    }
  }

  /** Resolves when the receiver is tuned to its frequencies. Throws a RequestError if it does not scan here. */
  async stop(actor: Actor, { id, name }: Receiver): Promise<void> {
    if (!this.#running.has(id)) {
      throw new RequestError('wrong_state', { subject: `${name} carries out no scan for this process.` })
    }
    await this.#end(id)
    if (this.#service.receiverStore.get(id)?.details?.scanning != null) {
      const details = 'it does not confirm that the scan has ended; Micwatch tries again every few seconds'
      throw new RequestError('scan_failed', { subject: name, details })
    }
    await this.#service.ingest.change((tx) =>
      writeAudit(tx, { actor, action: 'receiver.end_scan', target: `receiver ${id}`, result: 'ok' }),
    )
  }

  /** Ends all scans, because a show has begun. */
  endAll(): void {
    for (const { lifetime } of this.#running.values()) lifetime.abort()
  }

  async #end(id: number): Promise<void> {
    const running = this.#running.get(id)
    running?.lifetime.abort()
    await running?.ended
  }

  async #run(id: number, events: AsyncGenerator<ScanEvent>, count: number): Promise<void> {
    const { sweeps, log } = this.#service
    try {
      let left = count
      for await (const event of events) {
        if (event.type !== 'sweep') continue
        sweeps.add(sweepSourceOf(id), event.sweep)
        left -= 1
        if (left === 0) break
      }
    } catch (error) {
      log.warn({ receiver: id, error: String(error) }, 'a scan by a receiver has ended early')
    }
    await this.#bringBack(id)
    this.#running.get(id)?.lifetime.abort()
    this.#running.delete(id)
  }

  /** Ends the scan of a device and tunes it. The scan remains stored if the device does not confirm that. */
  async #bringBack(id: number): Promise<void> {
    const { receiverStore, log } = this.#service
    const receiver = receiverStore.get(id)
    const scan = receiver?.details?.scanning
    const scanning = receiver && this.#findSource(receiver)
    if (scan == null) return
    this.#retryAt.set(id, performance.now() + retryMs)
    if (scanning === undefined) return
    const tuned = new Map(scan.tuned.map(({ channel, mhz }) => [channel, Math.round(mhz * 1000)]))
    try {
      await scanning.scanner.restore(scanning.source.client, tuned, abortWithin(restoreWithinMs))
      await this.#store(null, id, null)
      this.#retryAt.delete(id)
    } catch (error) {
      log.warn({ receiver: id, error: String(error) }, 'a receiver has not confirmed the end of its scan')
    }
  }

  /** Ends the scans of sources that another process polls now, and those that were cut off. */
  #check(): void {
    const { monitor, receiverStore } = this.#service
    for (const { source, lifetime } of this.#running.values()) if (!monitor.polls(source.id)) lifetime.abort()
    for (const receiver of receiverStore.listFacts()) {
      const { id } = receiver
      if (receiver.details?.scanning == null || this.#running.has(id)) continue
      const source = this.#findSource(receiver)?.source
      if (source === undefined || !receiver.is_active || !monitor.polls(source.id)) continue
      if (performance.now() < (this.#retryAt.get(id) ?? 0)) continue
      const lifetime = childLifetime(this.#service.signal)
      const ended = this.#bringBack(id).finally(() => this.#running.delete(id))
      this.#running.set(id, { source, lifetime, ended })
    }
  }

  #store(actor: Actor | null, id: number, scanning: RunningScan | null): Promise<void> {
    const { ingest, receiverStore } = this.#service
    return ingest.change(async (tx, revision) => {
      const before = receiverStore.get(id)
      if (before === undefined) {
        if (actor === null) return
        throw new RequestError('not_found', { subject: `receiver ${id}` })
      }
      const { scanning: _, ...others } = before.details ?? {}
      await saveReceivers(tx, revision, [{ ...before, details: { ...others, ...(scanning && { scanning }) } }])
      if (actor === null || scanning === null) return
      const { from_mhz, to_mhz, step_khz } = scanning
      const details = { from_mhz, to_mhz, step_khz }
      await writeAudit(tx, { actor, action: 'receiver.scan', target: `receiver ${id}`, result: 'ok', details })
    })
  }

  #requireSource(receiver: Receiver): ScanningSource {
    const found = this.#findSource(receiver)
    if (found === undefined) {
      throw new RequestError('wrong_state', { subject: `Micwatch cannot scan the spectrum with ${receiver.name}.` })
    }
    const { baseUrl } = found.source.settings
    if (!receiver.is_active) throw new RequestError('wrong_state', { subject: `${receiver.name} is offline.` })
    if (!this.#service.monitor.polls(found.source.id)) {
      const subject = `This process does not poll ${baseUrl}. Scan with the process that does: see micwatch nodes.`
      throw new RequestError('wrong_state', { subject })
    }
    return found
  }

  /** Of several sources, only those under whose id the receiver is known can address it. */
  #findSource({ id, api_device_id, device_type }: Receiver): ScanningSource | undefined {
    if (api_device_id === null) return undefined
    const { receiverSources, sourceRegistry } = this.#service
    const precedence = precedenceOfId(api_device_id)
    for (const sourceId of receiverSources.list(id)) {
      const source = sourceRegistry.find(sourceId)
      const scanner = source?.adapter.scanner
      if (source === undefined || scanner === undefined || scanner.rangeOf(device_type) === null) continue
      if ((source.adapter.precedence ?? 0) === precedence) return { source, scanner }
    }
    return undefined
  }
}

/** The name of the source of a receiver's sweeps. */
function sweepSourceOf(id: number): string {
  return `receiver:${id}`
}

function toRunningScan({ fromKhz, toKhz, stepKhz }: ScanRange, { tuned }: ScannerState): RunningScan {
  return {
    from_mhz: fromKhz / 1000,
    to_mhz: toKhz / 1000,
    step_khz: stepKhz,
    at: toTimestamp(now()),
    tuned: [...tuned].map(([channel, khz]) => ({ channel, mhz: khz / 1000 })),
  }
}

function isScanning(name: string): RequestError {
  return new RequestError('wrong_state', { subject: `${name} is already scanning. Wait until the scan ends.` })
}

function isEnded(name: string): RequestError {
  return new RequestError('scan_failed', { subject: name, details: 'the scan was ended before it began' })
}

export function hasTransmitter(name: string): RequestError {
  const subject = `${name} receives a transmitter, and would receive nothing while it scans. Switch the transmitter off.`
  return new RequestError('wrong_state', { subject })
}

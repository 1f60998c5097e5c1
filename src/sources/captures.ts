/** Records what this process exchanges with a source, on the connections that it has anyway. */

import type { CaptureBody } from '../contract/captures.ts'
import type { CaptureEnd } from '../domain/captures.ts'
import { addressOf } from '../domain/equipment/health.ts'
import type { DeviceReport, Receiver } from '../domain/equipment/receiver.ts'
import { RequestError } from '../domain/errors.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { now } from '../platform/clock.ts'
import { CaptureRecorder } from '../upstream/capture/recorder.ts'
import type { Monitor } from './monitor.ts'
import type { ReceiverSources } from './receiver-sources.ts'
import type { SourceRegistry } from './source-registry.ts'

interface Running {
  readonly id: number
  readonly source: MonitoredSource
  readonly startedAt: number
  readonly endsAt: number
  readonly recorder: CaptureRecorder
  readonly timer: NodeJS.Timeout
  /** The first reading, which a replay needs. */
  readonly reading: Promise<void>
}

interface Ended {
  readonly body: CaptureBody
  readonly file: Promise<string>
}

interface CaptureSubsystems {
  readonly monitor: Monitor
  readonly sourceRegistry: SourceRegistry
  readonly receiverSources: ReceiverSources
  readonly receiverStore: ReceiverStore
  /** Aborts when the service stops. */
  readonly signal: AbortSignal
}

/** Running captures and files are kept in memory. */
const maxRunning = 4
const maxEnded = 4
const keepEndedMs = 60 * 60_000

export class Captures {
  readonly #service: CaptureSubsystems
  readonly #running = new Map<number, Running>()
  readonly #ended = new Map<number, Ended>()
  #count = 0

  constructor(service: CaptureSubsystems) {
    this.#service = service
  }

  /** Throws a RequestError if there is no such source, or it cannot be captured now. */
  start(address: string, minutes: number, micwatch: string): CaptureBody {
    const source = this.#findSource(address)
    this.#requireCapturable(source)
    const id = ++this.#count
    const startedAt = now()
    const subject = {
      micwatch,
      started_at: new Date(startedAt).toISOString(),
      plugin: source.plugin.code,
      protocol: source.adapter.protocol,
      known: this.#knownDevices(source),
    }
    const recorder = new CaptureRecorder(source.client, subject, () => this.#end(id, 'size'))
    const durationMs = minutes * 60_000
    const timer = setTimeout(() => this.#end(id, 'time'), durationMs)
    this.#service.signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
    // Systems are polled in parts, some of them rarely. A source that pushes everything is not polled while connected.
    const reading = this.#service.monitor.readNow(source.id, this.#service.signal)
    this.#running.set(id, { id, source, startedAt, endsAt: startedAt + durationMs, recorder, timer, reading })
    return this.get(id)
  }

  /** Throws a RequestError for an unknown capture. */
  get(id: number): CaptureBody {
    const running = this.#running.get(id)
    if (running !== undefined) return toBody(running, null)
    return this.#findEnded(id).body
  }

  /** Returns the capture, when it contains a complete reading. Without effect if it has already ended. */
  async stop(id: number): Promise<CaptureBody> {
    await this.#running.get(id)?.reading
    this.#end(id, 'stopped')
    return this.get(id)
  }

  /** Throws a RequestError for an unknown capture, or one that is running. */
  async file(id: number): Promise<string> {
    if (this.#running.has(id)) throw new RequestError('wrong_state', { subject: `Capture ${id} has not ended yet.` })
    return this.#findEnded(id).file
  }

  #end(id: number, end: CaptureEnd): void {
    const running = this.#running.get(id)
    if (running === undefined) return
    const { source, recorder, timer } = running
    clearTimeout(timer)
    this.#running.delete(id)
    const isSame = this.#service.sourceRegistry.find(source.id) === source
    const reason = isSame ? end : 'source_changed'
    const file = recorder.end(reason)
    // The request for the file reports a failure.
    file.catch(() => {})
    const body = toBody({ ...running, endsAt: now() }, reason)
    this.#ended.set(id, { body, file })
    setTimeout(() => this.#ended.delete(id), keepEndedMs).unref()
    const [oldest] = this.#ended.keys()
    if (this.#ended.size > maxEnded && oldest !== undefined) this.#ended.delete(oldest)
  }

  #findEnded(id: number): Ended {
    const ended = this.#ended.get(id)
    if (ended === undefined) throw new RequestError('not_found', { subject: `capture ${id}` })
    return ended
  }

  /** `address` is that of the source, or only its host. */
  #findSource(address: string): MonitoredSource {
    const wanted = address.replace(/\/+$/, '').toLowerCase()
    const found = this.#service.sourceRegistry.sources().filter(({ settings: { baseUrl } }) => {
      const { host, hostname } = new URL(baseUrl)
      return [baseUrl, host, hostname].some((name) => name.toLowerCase() === wanted)
    })
    const [source, ...others] = found
    if (source === undefined) throw new RequestError('not_found', { subject: `source with the address ${address}` })
    if (others.length === 0) return source
    const addresses = found.map(({ settings }) => settings.baseUrl).join(', ')
    throw new RequestError('bad_request', { details: `address: expected one of ${addresses}` })
  }

  #requireCapturable(source: MonitoredSource): void {
    const refuse = (subject: string) => new RequestError('wrong_state', { subject })
    const { baseUrl } = source.settings
    if (source.adapter.follow !== undefined) {
      throw refuse(`${baseUrl} is another installation of Micwatch. Capture its devices there.`)
    }
    if (!this.#service.monitor.polls(source.id)) {
      throw refuse(`This process does not poll ${baseUrl}. Capture it with the process that does: see micwatch nodes.`)
    }
    const running = [...this.#running.values()]
    if (running.some((other) => other.source === source)) throw refuse(`A capture of ${baseUrl} is already running.`)
    if (running.length >= maxRunning) throw refuse(`${maxRunning} captures are running. Wait until one of them ends.`)
  }

  #knownDevices(source: MonitoredSource): readonly DeviceReport[] {
    const { receiverSources, receiverStore } = this.#service
    return receiverStore
      .listAll({ manufacturer: source.manufacturer })
      .filter(({ id }) => receiverSources.list(id).includes(source.id))
      .flatMap(toReport)
  }
}

function toBody({ id, source, startedAt, endsAt, recorder }: Running, ended: CaptureEnd | null): CaptureBody {
  return {
    id,
    address: addressOf(source.id, source.manufacturer),
    started_at: new Date(startedAt).toISOString(),
    ends_at: new Date(endsAt).toISOString(),
    ended,
    lines: recorder.lines,
    bytes: recorder.bytes,
  }
}

/** Returns what is known of a receiver in the form of a report. */
function toReport(receiver: Receiver): readonly DeviceReport[] {
  const { api_device_id, is_active, model, name, device_type, serial_number, mac_address, ip } = receiver
  if (api_device_id === null) return []
  const { firmware_version, hosted_firmware_version, description, channels } = receiver
  return [
    {
      ...{ id: api_device_id, kind: 'receiver', name, device_type, model_name: model, online: is_active },
      ...{ serial_number, mac_address, ip, firmware_version, hosted_firmware_version, description },
      channels: channels.map(({ channel, name, frequency, audio_level, rf_level, transmitter, details }) => ({
        ...{ channel, name, frequency, audio_level, rf_level, transmitter },
        ...(details && { details }),
      })),
    },
  ]
}

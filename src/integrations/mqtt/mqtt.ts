/**
 * Publishes receivers, channels and alerts to an MQTT broker while this process holds the lease. Nothing waits for the
 * broker: what has changed is compared four times a second, and only as much is published as the connection accepts. A
 * pass over the receivers yields to the event loop.
 */

import type { MqttConfig } from '../../config/integrations.ts'
import type { AlertBody } from '../../contract/alerts.ts'
import type { TitleOf } from '../../domain/equipment/slot-record.ts'
import { isRecord } from '../../domain/json.ts'
import { findJsonExcess } from '../../domain/json-limits.ts'
import {
  alertTopic,
  type Components,
  discoveryTopic,
  isDue,
  isOwnMessage,
  listComponents,
  listRetainedFilters,
  type MqttTopics,
  type Published,
  type RetainedMessage,
  statusTopic,
  toDiscoveryMessage,
  toStateMessages,
  unknownContent,
} from '../../domain/mqtt/messages.ts'
import { LruMap } from '../../platform/cache.ts'
import { createMqttGauge } from '../../platform/counters.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../../platform/time-slice.ts'
import { childLifetime, pause, withTimeout } from '../../platform/wait.ts'
import type { Service } from '../../service.ts'
import { codeOf, describeConnectionError, isCertificateCode } from '../../upstream/errors.ts'
import { type BrokerConnection, connectBroker, ExcessError } from './broker.ts'

const tickMs = 250
const maxPerTick = 500
/** While more bytes than this wait to be sent, nothing is added. */
const maxUnsentBytes = 1024 * 1024
const maxWaitingAlerts = 100
const connectTimeoutMs = 15_000
const firstRetryMs = 1_000
const maxRetryMs = 30_000
/** Earlier retained messages are collected for this time after connecting. */
const collectMs = 3_000
/** Time limit for the acknowledgement of the first message and the subscriptions. */
const acknowledgementMs = 10_000
/** Enough for 10,000 receivers. Further retained topics are not removed. */
const maxTopics = 100_000
/** Components of all devices. */
const maxComponents = 1_000_000
/** The message of a device with 64 channels has a tenth of these values. */
const maxConfigValues = 100_000
/** Reason codes from 0x80 mean that a subscription was refused, in MQTT 3.1.1 and 5. */
const firstDenialCode = 0x80
/** Time limit for closing the connection. */
const closingMs = 1_000

/** A topic that the broker retains, as of the pass that last found the topic to be wanted. */
interface RetainedTopic extends Published {
  pass: number
}

/** The broker has accepted the connection, but acknowledges nothing. */
class NoAcknowledgementError extends Error {
  override readonly name = 'NoAcknowledgementError'
}

export class MqttPublisher {
  readonly #config: MqttConfig
  readonly #service: Service
  readonly #setConnected: (isConnected: boolean) => void
  readonly #topics: MqttTopics
  readonly #published = new Map<string, RetainedTopic>()
  /** The components that Home Assistant may have of each device, by the topic of the device. */
  #components = createComponents()
  /** False after the broker has sent too much. Topics of removed devices are then not cleaned up. */
  #collectsRetained = true
  #pass = 0
  /** Number of messages that this pass may still publish. */
  #remaining = 0
  #alerts: string[] = []
  #isPublishing = false
  #error: string | null = null

  constructor(config: MqttConfig, service: Service, version: string) {
    this.#config = config
    this.#service = service
    this.#setConnected = createMqttGauge(service.counters)
    this.#topics = {
      prefix: config.prefix,
      discoveryPrefix: config.home_assistant ? config.discovery_prefix : null,
      version,
      publicUrl: service.publicUrl,
    }
  }

  /** True while this process publishes or tries to connect. */
  get isPublishing(): boolean {
    return this.#isPublishing
  }

  /** Why nothing is published; null if it is, or if another process publishes. */
  get problem(): string | null {
    return this.#error === null ? null : `MQTT: ${this.#error}`
  }

  /** Queues an alert if this process publishes. The oldest are dropped if the queue is full. */
  alertChanged(alert: AlertBody): void {
    if (!this.#isPublishing) return
    this.#alerts.push(JSON.stringify(alert))
    if (this.#alerts.length > maxWaitingAlerts) this.#alerts.shift()
  }

  /** Publishes until the signal aborts, and connects again after a failure. */
  async publish(signal: AbortSignal): Promise<void> {
    this.#isPublishing = true
    let retryMs = firstRetryMs
    while (!signal.aborted) {
      const isConnected = await this.#connectAndPublish(signal)
      retryMs = isConnected ? firstRetryMs : Math.min(maxRetryMs, 2 * retryMs)
      await pause(retryMs, signal)
    }
    this.#isPublishing = false
    this.#alerts = []
    this.#error = null
  }

  /** Returns whether the broker acknowledged a message. */
  async #connectAndPublish(signal: AbortSignal): Promise<boolean> {
    const { log, outbound, installation } = this.#service
    const { destinations } = outbound
    const connecting = childLifetime(signal)
    const timer = setTimeout(() => connecting.abort(), connectTimeoutMs)
    let connection: BrokerConnection | undefined
    let isConnected = false
    try {
      const clientId = `micwatch-${installation}`
      const will = { topic: statusTopic(this.#topics), payload: 'offline' }
      connection = await connectBroker(this.#config, { clientId, will, destinations }, connecting.signal)
      clearTimeout(timer)
      await this.#announce(connection)
      if (this.#error !== null) log.info({ broker: this.#config.url }, 'the MQTT broker is connected again')
      this.#error = null
      isConnected = true
      this.#setConnected(true)
      await this.#serve(connection, signal)
      this.#fail(this.#describeExcess(connection) ?? 'The connection to the broker has ended.', signal)
    } catch (error) {
      this.#fail(this.#describeExcess(connection) ?? this.#describe(error), signal)
    } finally {
      if (this.#describeExcess(connection) !== null) {
        // The next connection is made later, and asks for less.
        this.#collectsRetained = false
        isConnected = false
      }
      clearTimeout(timer)
      connecting.abort()
      this.#setConnected(false)
      connection?.client.end(true)
      connection?.stream.destroy()
    }
    return isConnected
  }

  /** Names the limit that the broker has exceeded, or returns null. */
  #describeExcess(connection: BrokerConnection | undefined): string | null {
    const { url, prefix } = this.#config
    const reason: unknown = connection?.closed.reason
    if (!(reason instanceof ExcessError)) return null
    return `${new URL(url).host} ${reason.message}. Remove what it retains below ${prefix}/, or change mqtt.prefix.`
  }

  #describe(error: unknown): string {
    const { code, message, name } = error as { code?: unknown; message?: string; name?: string }
    const { host } = new URL(this.#config.url)
    if (typeof code === 'number') return `${host} refused the connection: ${message}.`
    if (error instanceof NoAcknowledgementError)
      return `${host} has accepted the connection, but acknowledged no message within ${acknowledgementMs / 1000} s.`
    if (name === 'AbortError') return `No response from ${host} within ${connectTimeoutMs / 1000} s.`
    const reason = codeOf(error)
    if (isCertificateCode(reason))
      return `The certificate of ${host} was not accepted (${reason}). Set mqtt.ca_file to the certificate of its authority.`
    const text = describeConnectionError(error, host, connectTimeoutMs)
    return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
  }

  #fail(reason: string, signal: AbortSignal): void {
    if (signal.aborted) return
    if (this.#error === null)
      this.#service.log.warn({ broker: this.#config.url, error: reason }, 'MQTT is not available')
    this.#error = reason
  }

  /** Publishes the status, and subscribes. Throws if the broker acknowledges neither in time. */
  async #announce({ client }: BrokerConnection): Promise<void> {
    client.on('message', (topic, payload, { retain }) => this.#receive(topic, payload, retain))
    this.#published.clear()
    this.#components = createComponents()
    await acknowledged(client.publishAsync(statusTopic(this.#topics), 'online', { qos: 1, retain: true }))
    const { discoveryPrefix } = this.#topics
    if (this.#collectsRetained)
      await this.#subscribe(client, listRetainedFilters(this.#topics), 'what was removed is not cleaned up')
    if (discoveryPrefix !== null)
      await this.#subscribe(client, [`${discoveryPrefix}/status`], 'a start of Home Assistant is not noticed')
  }

  /** Subscribes. If the broker denies it, publishing continues. */
  async #subscribe(client: BrokerConnection['client'], filters: string[], consequence: string): Promise<void> {
    try {
      await acknowledged(client.subscribeAsync(filters))
    } catch (error) {
      if (!isDenial(error)) throw error
      const fields = { broker: this.#config.url, filters, error: String(error) }
      this.#service.log.warn(fields, `the MQTT broker denied a subscription: ${consequence}`)
    }
  }

  /** Publishes until the connection ends or the signal aborts. */
  async #serve(connection: BrokerConnection, signal: AbortSignal): Promise<void> {
    const { client, stream, closed } = connection
    const filters = listRetainedFilters(this.#topics)
    const collected = setTimeout(() => void client.unsubscribeAsync(filters).catch(() => {}), collectMs)
    const lifetime = childLifetime(signal)
    closed.addEventListener('abort', () => lifetime.abort(), { once: true })
    if (closed.aborted) lifetime.abort()
    do {
      if (stream.writableLength < maxUnsentBytes) await this.#tick(connection, lifetime.signal)
    } while (await pause(tickMs, lifetime.signal))
    clearTimeout(collected)
    if (closed.aborted) return
    // The broker sends the last will only if a connection ends without DISCONNECT.
    const offline = client.publishAsync(statusTopic(this.#topics), 'offline', { qos: 1, retain: true })
    await withTimeout(
      offline.catch(() => {}),
      closingMs,
    )
    await withTimeout(
      client.endAsync().catch(() => {}),
      closingMs,
    )
  }

  async #tick({ client }: BrokerConnection, signal: AbortSignal): Promise<void> {
    for (const alert of this.#alerts.splice(0)) client.publish(alertTopic(this.#topics), alert, { qos: 1 }, onError)
    this.#pass += 1
    this.#remaining = maxPerTick
    const { receiverStore, slotRecords } = this.#service
    const titleOf: TitleOf = (receiver, channel) => slotRecords.titleOf(receiver, channel)
    for (const { id } of receiverStore.listFacts()) {
      if (isTimeSliceUsed()) await yieldToEventLoop()
      if (signal.aborted) return
      const receiver = receiverStore.get(id)
      if (receiver === undefined) continue
      const known = this.#components.get(discoveryTopic(this.#topics, id))
      const device = toDiscoveryMessage(receiver, this.#topics, titleOf, known)
      if (device !== null && this.#offer(client, device)) {
        this.#components.set(device.topic, listComponents(device.toPayload()))
      }
      for (const state of toStateMessages(receiver, this.#topics, titleOf)) this.#offer(client, state)
    }
    this.#removeOthers(client)
  }

  /** Publishes a message if it is due. Returns whether it was published. */
  #offer(client: BrokerConnection['client'], message: RetainedMessage): boolean {
    const { topic, facts, levels } = message
    const last = this.#published.get(topic)
    const now = performance.now()
    if (last !== undefined) last.pass = this.#pass
    if (!isDue(last, message, now) || this.#remaining === 0) return false
    this.#remaining -= 1
    client.publish(topic, message.toPayload(), { retain: true }, onError)
    this.#published.set(topic, { facts, levels, at: now, pass: this.#pass })
    return true
  }

  /** Publishes an empty message to every topic that is no longer wanted. */
  #removeOthers(client: BrokerConnection['client']): void {
    for (const [topic, { pass }] of this.#published) {
      if (pass === this.#pass) continue
      if (this.#remaining === 0) return
      this.#remaining -= 1
      client.publish(topic, '', { retain: true }, onError)
      this.#published.delete(topic)
      this.#components.delete(topic)
    }
  }

  /** Handles a start of Home Assistant, and messages that are retained from earlier. */
  #receive(topic: string, bytes: Buffer, isRetained: boolean): void {
    const payload = bytes.toString()
    if (topic === `${this.#topics.discoveryPrefix}/status`) {
      if (payload === 'online') this.#published.clear()
      return
    }
    if (!isRetained || payload === '' || !isOwnMessage(this.#topics, topic, payload)) return
    if (this.#published.size >= maxTopics && !this.#published.has(topic)) return
    // Home Assistant may have components that the message now published does not contain.
    if (topic.endsWith('/config') && findJsonExcess(bytes, maxConfigValues) === null) {
      this.#components.set(topic, new Map([...listComponents(payload), ...(this.#components.get(topic) ?? [])]))
    }
    // Planned as if it had been published before, so that it is removed if it is no longer wanted.
    if (!this.#published.has(topic)) this.#published.set(topic, { ...unknownContent, pass: this.#pass })
  }
}

function createComponents(): LruMap<string, Components> {
  return new LruMap(maxComponents, ({ size }) => size + 1)
}

/** The next pass repeats failed messages, and a new connection publishes everything again. */
function onError(): void {}

/** True if the broker has refused a subscription. */
function isDenial(error: unknown): boolean {
  if (!(error instanceof Error && 'packet' in error && isRecord(error.packet))) return false
  const { granted } = error.packet
  return Array.isArray(granted) && granted.some((code) => code >= firstDenialCode)
}

async function acknowledged<T>(promise: Promise<T>): Promise<void> {
  promise.catch(() => {})
  if ((await withTimeout(promise, acknowledgementMs)) === 'late') throw new NoAcknowledgementError()
}

/**
 * Publishes receivers, channels and alerts to an MQTT broker while this process holds the lease. Nothing waits for the
 * broker: what has changed is compared four times a second, and only as much is published as the connection accepts.
 */

import type { MqttConfig } from '../../config/integrations.ts'
import type { AlertBody } from '../../contract/resources/alerts.ts'
import type { Receiver } from '../../domain/equipment/receiver.ts'
import {
  alertTopic,
  isOwnMessage,
  listRetainedFilters,
  type MqttTopics,
  type RetainedMessage,
  statusTopic,
  toDiscoveryMessage,
  toStateMessages,
} from '../../domain/mqtt/messages.ts'
import { type Published, planPublications } from '../../domain/mqtt/plan.ts'
import type { Log } from '../../monitoring/log.ts'
import { childLifetime, pause, withTimeout } from '../../monitoring/wait.ts'
import type { Destinations } from '../../upstream/destinations.ts'
import { codeOf, describeConnectionError, isCertificateCode } from '../../upstream/error-messages.ts'
import { type BrokerConnection, connectBroker } from './broker.ts'

export interface MqttDeps {
  readonly destinations: Destinations
  readonly version: string
  readonly publicUrl: string | null
  /** Returns the id of the installation, which all its processes share. */
  installationId(): Promise<string>
  /** Lists the receivers with their current levels. */
  receivers(): readonly Receiver[]
  /** Lists the receivers; their levels may be out of date. */
  receiverFacts(): readonly Receiver[]
  setConnected(isConnected: boolean): void
  readonly log: Log
}

const tickMs = 250
const maxPerTick = 500
/** While more bytes than this wait to be sent, nothing is added. */
const maxUnsentBytes = 1024 * 1024
const maxWaitingAlerts = 100
const connectTimeoutMs = 15_000
const firstRetryMs = 1_000
const maxRetryMs = 30_000
/** How long retained messages of earlier are collected after a connection was made. */
const collectMs = 3_000
const goodbyeMs = 1_000

export class MqttPublisher {
  readonly #config: MqttConfig
  readonly #deps: MqttDeps
  readonly #topics: MqttTopics
  /** Records are replaced when anything changes, so what was made from them can be kept. */
  readonly #states = new WeakMap<Receiver, readonly RetainedMessage[]>()
  readonly #discoveries = new WeakMap<Receiver, RetainedMessage | null>()
  #published: ReadonlyMap<string, Published> = new Map()
  #alerts: string[] = []
  #isPublishing = false
  #error: string | null = null

  constructor(config: MqttConfig, deps: MqttDeps) {
    this.#config = config
    this.#deps = deps
    this.#topics = {
      prefix: config.prefix,
      discoveryPrefix: config.home_assistant ? config.discovery_prefix : null,
      version: deps.version,
      publicUrl: deps.publicUrl,
    }
  }

  /** Why nothing is published; null if it is, or if another process publishes. */
  get problem(): string | null {
    return this.#error === null ? null : `MQTT: ${this.#error}`
  }

  /** Publishes an alert as soon as possible, if this process publishes. Of many that wait, the newest are kept. */
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

  /** Returns whether a connection was made. */
  async #connectAndPublish(signal: AbortSignal): Promise<boolean> {
    const { log, destinations, setConnected } = this.#deps
    const connecting = childLifetime(signal)
    const timer = setTimeout(() => connecting.abort(), connectTimeoutMs)
    let connection: BrokerConnection | undefined
    try {
      const clientId = `micwatch-${await this.#deps.installationId()}`
      const will = { topic: statusTopic(this.#topics), payload: 'offline' }
      connection = await connectBroker(this.#config, { clientId, will, destinations }, connecting.signal)
      clearTimeout(timer)
      if (this.#error !== null) log.info({ broker: this.#config.url }, 'the MQTT broker is connected again')
      this.#error = null
      setConnected(true)
      await this.#serve(connection, signal)
      this.#fail('The connection to the broker has ended.', signal)
    } catch (error) {
      this.#fail(this.#describe(error), signal)
    } finally {
      clearTimeout(timer)
      connecting.abort()
      setConnected(false)
      connection?.client.end(true)
      connection?.stream.destroy()
    }
    return connection !== undefined
  }

  #describe(error: unknown): string {
    const { code, message, name } = error as { code?: unknown; message?: string; name?: string }
    const { host } = new URL(this.#config.url)
    if (typeof code === 'number') return `${host} refused the connection: ${message}.`
    if (name === 'AbortError') return `No response from ${host} within ${connectTimeoutMs / 1000} s.`
    const reason = codeOf(error)
    if (isCertificateCode(reason))
      return `The certificate of ${host} was not accepted (${reason}). Set mqtt.ca_file to the certificate of its authority.`
    const text = describeConnectionError(error, host, connectTimeoutMs)
    return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
  }

  #fail(reason: string, signal: AbortSignal): void {
    if (signal.aborted) return
    if (this.#error === null) this.#deps.log.warn({ broker: this.#config.url, error: reason }, 'MQTT is not available')
    this.#error = reason
  }

  /** Publishes until the connection ends or the signal aborts. */
  async #serve(connection: BrokerConnection, signal: AbortSignal): Promise<void> {
    const { client, stream, closed } = connection
    const status = statusTopic(this.#topics)
    client.on('message', (topic, payload, { retain }) => this.#receive(topic, payload.toString(), retain))
    this.#published = new Map()
    await client.publishAsync(status, 'online', { qos: 1, retain: true })
    const { discoveryPrefix } = this.#topics
    const filters = listRetainedFilters(this.#topics)
    await client.subscribeAsync(discoveryPrefix === null ? filters : [...filters, `${discoveryPrefix}/status`])
    const collected = setTimeout(() => void client.unsubscribeAsync(filters).catch(() => {}), collectMs)
    const lifetime = childLifetime(signal)
    closed.addEventListener('abort', () => lifetime.abort(), { once: true })
    if (closed.aborted) lifetime.abort()
    do {
      if (stream.writableLength < maxUnsentBytes) this.#tick(connection)
    } while (await pause(tickMs, lifetime.signal))
    clearTimeout(collected)
    if (closed.aborted) return
    // The broker would send the last will only if the connection ended without a farewell.
    const farewell = client.publishAsync(status, 'offline', { qos: 1, retain: true })
    await withTimeout(
      farewell.catch(() => {}),
      goodbyeMs,
    )
    await withTimeout(
      client.endAsync().catch(() => {}),
      goodbyeMs,
    )
  }

  #tick({ client }: BrokerConnection): void {
    // The next tick publishes what could not be published, and a lost connection publishes everything again.
    const onError = () => {}
    for (const alert of this.#alerts.splice(0)) client.publish(alertTopic(this.#topics), alert, { qos: 1 }, onError)
    const options = { now: performance.now(), limit: maxPerTick }
    const { publications, published } = planPublications(this.#published, this.#listWanted(), options)
    for (const { topic, payload } of publications) client.publish(topic, payload, { retain: true }, onError)
    this.#published = published
  }

  /** Handles a start of Home Assistant, and messages that are retained from earlier. */
  #receive(topic: string, payload: string, isRetained: boolean): void {
    if (topic === `${this.#topics.discoveryPrefix}/status`) {
      if (payload === 'online') this.#published = new Map()
      return
    }
    // Planned as if it had been published before, so that it is removed if it is no longer wanted.
    if (!isRetained || payload === '' || this.#published.has(topic)) return
    if (!isOwnMessage(this.#topics, topic, payload)) return
    this.#published = new Map([...this.#published, [topic, { payload, facts: '', at: performance.now() }]])
  }

  #listWanted(): RetainedMessage[] {
    const { receivers, receiverFacts } = this.#deps
    const discoveries = receiverFacts().flatMap((receiver) => this.#discoveryOf(receiver) ?? [])
    return [...discoveries, ...receivers().flatMap((receiver) => this.#statesOf(receiver))]
  }

  #statesOf(receiver: Receiver): readonly RetainedMessage[] {
    const states = this.#states.get(receiver) ?? toStateMessages(receiver, this.#topics)
    this.#states.set(receiver, states)
    return states
  }

  #discoveryOf(receiver: Receiver): RetainedMessage | null {
    const known = this.#discoveries.get(receiver)
    if (known !== undefined) return known
    const discovery = toDiscoveryMessage(receiver, this.#topics)
    this.#discoveries.set(receiver, discovery)
    return discovery
  }
}

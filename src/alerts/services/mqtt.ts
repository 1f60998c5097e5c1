/** MQTT, for systems such as Home Assistant and Node-RED: publishes the JSON of a message to one topic. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type { MqttClient } from 'mqtt'
import type { ServiceConfig } from '../../contract/notification-services.ts'
import { addressOf, configError } from '../../domain/notifications/config-fields.ts'
import type { NotificationMessage } from '../../domain/notifications/message.ts'
import { listLines, toNotificationText } from '../../domain/notifications/text.ts'
import { abortable } from '../../platform/wait.ts'
import { openSocket } from '../../upstream/destinations.ts'
import { limitMqttPackets, unsupportedVersionCodes } from '../../upstream/mqtt-packets.ts'
import { toJson, toPayload } from './payload.ts'
import { createResult, runWithinLimit, toFailure } from './send-result.ts'
import type { NotificationService, SendKit, SendResult } from './service.ts'

const maxTopicBytes = 65_535
const defaultPorts = { 'mqtt:': 1883, 'mqtts:': 8883 } as const

export const mqtt: NotificationService<'mqtt'> = {
  allowsLinkLocal: true,
  check({ topic, username, password }) {
    if (Buffer.byteLength(topic) > maxTopicBytes) throw configError('topic', `expected at most ${maxTopicBytes} bytes`)
    if (password !== undefined && username === undefined) throw configError('username', 'missing')
  },
  addresses: (config) => [brokerOf(config).url],
  async send(config, message, kit) {
    try {
      const payload = toMqttPayload(message, kit)
      return await runWithinLimit(kit, (signal) => publish(config, payload, kit, signal))
    } catch (error) {
      kit.signal.throwIfAborted()
      return toFailure(error, brokerOf(config).url.host, kit)
    }
  },
}

interface Broker {
  readonly url: URL
  readonly usesTls: boolean
}

function brokerOf({ url }: ServiceConfig<'mqtt'>): Broker {
  const { protocol, hostname, port } = new URL(url)
  const usesTls = protocol === 'mqtts:'
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const brokerPort = Number(port) || defaultPorts[usesTls ? 'mqtts:' : 'mqtt:']
  return { url: new URL(addressOf(host, brokerPort, usesTls)), usesTls }
}

function toMqttPayload(message: NotificationMessage, { publicUrl }: SendKit): string {
  const text = toNotificationText(message, publicUrl)
  const { title, severity, url } = text
  return toJson({
    id: message.id,
    ...toPayload(message),
    severity,
    title,
    // `data.alerts` has the links.
    text: listLines({ ...text, url: null }, maxTextBytes)
      .map((line) => line.text)
      .join('\n'),
    url,
  })
}

const maxTextBytes = 10_000

/**
 * Publishes with MQTT 5, whose acknowledgements contain the broker's refusals, or with 3.1.1 if the broker does not
 * support 5.
 */
async function publish(
  config: ServiceConfig<'mqtt'>,
  payload: string,
  kit: SendKit,
  signal: AbortSignal,
): Promise<SendResult> {
  const reason = await publishWith(5, config, payload, kit, signal)
  const result = isUnsupportedVersion(reason) ? await publishWith(4, config, payload, kit, signal) : reason
  if (result === null) return createResult('sent', {})
  const error = `${brokerOf(config).url.host} refused the message: ${result.message}.`
  return createResult(permanentReasons.has(result.code) ? 'failed' : 'retry', { error })
}

interface Refusal {
  readonly code: number
  readonly message: string
}

/** Reason codes of MQTT 3.1.1 and 5 that another try would not change: credentials, permissions and the topic. */
const permanentReasons = new Set([2, 4, 5, 133, 134, 135, 138, 140, 144, 149, 153, 155])

function isUnsupportedVersion(refusal: Refusal | null): boolean {
  return refusal !== null && unsupportedVersionCodes.includes(refusal.code)
}

/** Null if the broker accepted the message. Throws if it did not respond. */
async function publishWith(
  protocolVersion: 4 | 5,
  config: ServiceConfig<'mqtt'>,
  payload: string,
  kit: SendKit,
  signal: AbortSignal,
): Promise<Refusal | null> {
  const { topic, username, password } = config
  // Loaded on demand, because most installations do not use MQTT. A bundled CommonJS package has only a default export.
  const { MqttClient } = (await import('mqtt')).default
  const stream = await openStream(brokerOf(config), kit, signal)
  const client = new MqttClient(() => stream, {
    protocolVersion,
    clientId: `micwatch-${randomBytes(6).toString('hex')}`,
    username,
    password,
    reconnectPeriod: 0,
  })
  limitMqttPackets(stream)
  try {
    const failure = rejectOnFailure(client)
    const connected = new Promise<void>((resolve) => client.once('connect', () => resolve()))
    await abortable(Promise.race([connected, failure]), signal)
    await abortable(Promise.race([client.publishAsync(topic, payload, { qos: 1, retain: false }), failure]), signal)
    return null
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: string }
    if (typeof code === 'number') return { code, message: message ?? '' }
    throw error
  } finally {
    client.end(true)
    stream.destroy()
  }
}

function rejectOnFailure(client: MqttClient): Promise<never> {
  const failure = new Promise<never>((_, reject) => {
    client.on('error', reject)
    client.on('close', () => reject(Object.assign(new Error('connection closed'), { code: 'ECONNRESET' })))
  })
  // Also rejects when the client ends, when nothing awaits it.
  failure.catch(() => {})
  return failure
}

async function openStream({ url, usesTls }: Broker, kit: SendKit, signal: AbortSignal): Promise<Duplex> {
  const socket = await openSocket(url, kit.destinations, signal)
  if (!usesTls) return socket
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const stream = connectTls({ socket, host, servername: isIP(host) === 0 ? host : '' })
  try {
    await once(stream, 'secureConnect', { signal })
    return stream
  } catch (error) {
    stream.destroy()
    throw error
  }
}

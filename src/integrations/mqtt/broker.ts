/** Connects to an MQTT broker. */

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type { MqttClient } from 'mqtt'
import type { MqttConfig } from '../../config/integrations.ts'
import { abortable } from '../../platform/wait.ts'
import { type Destinations, openSocket } from '../../upstream/destinations.ts'
import { limitMqttPackets, maxMqttPacketBytes, unsupportedVersionCodes } from '../../upstream/mqtt-packets.ts'

export interface Will {
  readonly topic: string
  readonly payload: string
}

export interface BrokerConnection {
  readonly client: MqttClient
  readonly stream: Duplex
  /** Aborts when the connection has ended. The reason is an `ExcessError` if the broker has sent too much. */
  readonly closed: AbortSignal
}

/** The broker has sent too large or too many packets. */
export class ExcessError extends Error {
  override readonly name = 'ExcessError'
}

/** The code of the error if the broker closes the connection without a response. */
const closedCode = 'ECONNRESET'
const keepaliveSeconds = 20

/**
 * Connects with MQTT 5. Falls back to 3.1.1 if the broker rejects 5 or closes the connection. Throws if neither is
 * possible.
 */
export async function connectBroker(
  config: MqttConfig,
  options: { readonly clientId: string; readonly will: Will; readonly destinations: Destinations },
  signal: AbortSignal,
): Promise<BrokerConnection> {
  try {
    return await connectWith(5, config, options, signal)
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code !== closedCode && !unsupportedVersionCodes.includes(code)) throw error
    return connectWith(4, config, options, signal)
  }
}

async function connectWith(
  protocolVersion: 4 | 5,
  config: MqttConfig,
  { clientId, will, destinations }: Parameters<typeof connectBroker>[1],
  signal: AbortSignal,
): Promise<BrokerConnection> {
  // Loaded on demand, because most installations do not use MQTT. A bundled CommonJS package has only a default export.
  const { MqttClient } = (await import('mqtt')).default
  const stream = await openStream(config, destinations, signal)
  const client = new MqttClient(() => stream, {
    protocolVersion,
    clientId,
    ...(config.username !== null && { username: config.username }),
    ...(config.password !== null && { password: config.password }),
    will: { ...will, payload: Buffer.from(will.payload), qos: 1, retain: true },
    keepalive: keepaliveSeconds,
    reconnectPeriod: 0,
    queueQoSZero: false,
    ...(protocolVersion === 5 && { properties: { maximumPacketSize: maxMqttPacketBytes } }),
  })
  const closed = new AbortController()
  limitMqttPackets(stream, (sent) => closed.abort(new ExcessError(`sent ${sent}`)))
  const failure = new Promise<never>((_, reject) => {
    client.on('error', reject)
    client.on('close', () => {
      closed.abort()
      reject(Object.assign(new Error('connection closed'), { code: closedCode }))
    })
  })
  // It is also rejected when the connection ends later.
  failure.catch(() => {})
  try {
    await abortable(Promise.race([new Promise((resolve) => client.once('connect', resolve)), failure]), signal)
    return { client, stream, closed: closed.signal }
  } catch (error) {
    client.end(true)
    stream.destroy()
    throw error
  }
}

async function openStream(config: MqttConfig, destinations: Destinations, signal: AbortSignal): Promise<Duplex> {
  const { protocol, hostname, port } = new URL(config.url)
  const usesTls = protocol === 'mqtts:'
  // With the scheme http, ports and addresses are parsed alike everywhere.
  const url = new URL(`http://${hostname}:${port === '' ? (usesTls ? 8883 : 1883) : port}`)
  const socket = await openSocket(url, destinations, signal)
  if (!usesTls) return socket
  const [ca, cert, key] = await Promise.all(
    [config.ca_file, config.cert_file, config.key_file].map((file) => file && readFile(file)),
  )
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const stream = connectTls({
    socket,
    host,
    servername: isIP(host) === 0 ? host : '',
    rejectUnauthorized: config.ssl_verify,
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
  })
  try {
    await once(stream, 'secureConnect', { signal })
    return stream
  } catch (error) {
    stream.destroy()
    throw error
  }
}

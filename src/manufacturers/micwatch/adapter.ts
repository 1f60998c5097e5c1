/** Follows another installation of Micwatch through version 2 of its live interface (docs/websocket.md). */

import { isRecord } from '../../domain/json.ts'
import type { LiveMessage } from '../../domain/sites/followed-receiver.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { openWebSocket } from '../../upstream/push.ts'
import { defineAdapter, type FollowOptions, type ResumePoint, withoutParts } from '../plugin.ts'

/** A receiver in `GET /api/data.json`. */
interface ListedReceiver {
  readonly id: string
  readonly name: string
  readonly device_type: string
  readonly online: boolean
  readonly channels: readonly number[]
}

/** The code with which the other installation closes the connection when the token ends. */
const revokedCode = 4401
const pingEveryMs = 15_000
/** No site has this code, so the snapshot contains no receivers. */
const shortestSnapshot = 'protocol=2&levels=false&site=-'
/** A snapshot is one frame; 10,000 receivers take about 25 MB. */
const maxSnapshotBytes = 128 * 1024 * 1024

export const adapter = defineAdapter<ListedReceiver>({
  ...withoutParts,
  transport: 'websocket',

  async listDevices(client, signal) {
    const { body } = await client.request('GET', '/api/data.json', { signal })
    if (!isRecord(body) || !Array.isArray(body.receivers)) throw notMicwatch(client)
    const devices = body.receivers.flatMap((receiver) => readReceiver(receiver) ?? [])
    return { devices, malformed: body.receivers.length - devices.length }
  },

  transformDeviceData: ({ id, name, device_type, online, channels }) => ({
    ...{ id, kind: 'receiver', name, device_type, online },
    channels: channels.map((channel) => ({ channel })),
  }),

  async *follow(client, signal, { resumeAfter, onLatency, onOpen }: FollowOptions) {
    const pings = createPings(onLatency)
    let send = (_message: object) => {}
    let canSelectLevels = true
    let closeCode = 0
    const frames = openWebSocket(client, liveUrl(client, resumeAfter), signal, {
      maxFrameBytes: maxSnapshotBytes,
      onOpen: (sendText) => {
        send = (message) => sendText(JSON.stringify(message))
        pings.start(send)
        onOpen((selection) => {
          if (canSelectLevels) send({ type: 'select_levels', ...selection })
        })
      },
      onClose: (code) => {
        closeCode = code
      },
    })
    try {
      for await (const frame of frames) {
        if (frame === null) continue
        const message = parseMessage(client, frame)
        if (message.type === 'levels') send({ type: 'ack', at: message.at })
        if (message.type === 'pong') pings.answered(message.id)
        // An older version rejects the selection of levels, and continues to send all of them.
        else if (message.type === 'error') canSelectLevels = false
        else yield message
      }
    } catch (error) {
      throw closeCode === revokedCode ? revokedError(client) : error
    } finally {
      pings.stop()
      send = () => {}
    }
  },

  async readInstallation(client, signal) {
    const frames = openWebSocket(client, `${client.settings.baseUrl}/ws?${shortestSnapshot}`, signal, {
      maxFrameBytes: maxSnapshotBytes,
    })
    for await (const frame of frames) {
      if (frame === null) continue
      const message = parseMessage(client, frame)
      if (message.type !== 'snapshot') continue
      const { installation, via }: Partial<typeof message> = message
      return typeof installation === 'string' && Array.isArray(via) ? { installation, via } : null
    }
    return null
  },
})

function liveUrl({ settings }: UpstreamClient, resumeAfter: ResumePoint | null): string {
  // All levels until others are selected, because older versions know no selection.
  // `ack` keeps levels current on a slow line: the next ones are sent only when these have arrived.
  const query = new URLSearchParams({ protocol: '2', levels: 'full', ack: '1' })
  if (resumeAfter !== null) {
    query.set('since', String(resumeAfter.seq))
    query.set('epoch', resumeAfter.epoch)
  }
  return `${settings.baseUrl}/ws?${query}`
}

function parseMessage(client: UpstreamClient, frame: string): LiveMessage {
  try {
    const message: unknown = JSON.parse(frame)
    if (isRecord(message) && typeof message.type === 'string') return message as unknown as LiveMessage
  } catch {
    // Not JSON.
  }
  throw notMicwatch(client)
}

function notMicwatch(client: UpstreamClient) {
  const { host } = new URL(client.settings.baseUrl)
  return new client.errors.ApiError(`${host} does not respond like Micwatch; check the address`, {
    failureKind: 'unusable',
  })
}

function revokedError(client: UpstreamClient) {
  const { host } = new URL(client.settings.baseUrl)
  return new client.errors.ApiError(`${host} no longer accepts the token; enter a new one`, { status: 401 })
}

function readReceiver(receiver: unknown): ListedReceiver | null {
  if (!isRecord(receiver)) return null
  const { id, name, device_type, is_active, channels } = receiver
  if (!Number.isInteger(id) || typeof name !== 'string' || typeof device_type !== 'string') return null
  if (!Array.isArray(channels)) return null
  const numbers = channels.flatMap((channel) => (isRecord(channel) ? [Number(channel.channel)] : []))
  const online = is_active === true
  return { id: String(id), name, device_type, online, channels: numbers.filter(Number.isInteger) }
}

/** Measures how long a message takes to the other installation and back. */
function createPings(onLatency: (ms: number) => void) {
  let timer: NodeJS.Timeout | undefined
  let count = 0
  let sentAt = 0
  return {
    start(send: (message: object) => void) {
      const ping = () => {
        sentAt = performance.now()
        send({ type: 'ping', id: ++count })
      }
      ping()
      timer = setInterval(ping, pingEveryMs)
    },
    answered(id: unknown) {
      if (id === count) onLatency(Math.round(performance.now() - sentAt))
    },
    stop: () => clearInterval(timer),
  }
}

/** Follows another installation of Micwatch through version 2 of its live interface (docs/websocket.md). */

import {
  FollowedEvents,
  type FollowedMessage,
  FollowedReceiver,
  type FollowedReceiverBody,
  type FollowedSnapshot,
  followedMessages,
} from '../../contract/followed-messages.ts'
import { siteLimits } from '../../contract/sites.ts'
import { isRecord, type Json, parseJson } from '../../domain/json.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../../platform/time-slice.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { openWebSocket } from '../../upstream/push.ts'
import { defineAdapter, type FollowOptions, type ResumePoint, type UpstreamDevice, withoutParts } from '../plugin.ts'
import { createReader, Dropped, unreadable } from './reader.ts'

interface ListedReceiver extends UpstreamDevice {
  readonly receiver: FollowedReceiverBody
}

/** The close code of the other installation when the token ends. */
const revokedCode = 4401
const pingEveryMs = 15_000
/** No site has this code, so the snapshot contains no receivers. */
const shortestSnapshot = 'protocol=2&levels=false&site=-'
/** A snapshot is one frame; 10,000 receivers take about 25 MB. */
const maxSnapshotBytes = 128 * 1024 * 1024
const maxSnapshotValues = 6_000_000
/** The levels of 100,000 channels. */
const maxShortValues = 1_200_000

export const adapter = defineAdapter<ListedReceiver>({
  protocol: 'micwatch',
  ...withoutParts,
  transport: 'websocket',

  async listDevices(client, signal) {
    const { body } = await client.request('GET', '/api/data.json', { signal, kind: 'site' })
    const dropped = new Dropped()
    const receivers = isRecord(body) ? await readReceivers(body.receivers, dropped) : null
    if (receivers === null) throw notMicwatch(client)
    const devices = receivers.map((receiver) => ({ id: String(receiver.id), receiver }))
    return { devices, malformed: dropped.count }
  },

  transformDeviceData: ({ id, receiver: { name, device_type, is_active, channels } }) => ({
    ...{ id, kind: 'receiver', name, device_type, online: is_active },
    channels: channels.map(({ channel }) => ({ channel })),
  }),

  async *follow(client, signal, { resumeAfter, onLatency, onOpen, onDropped }: FollowOptions) {
    const pings = createPings(onLatency)
    let send = (_message: object) => {}
    let canSelectLevels = true
    let closeCode = 0
    let isFollowing = false
    const frames = openWebSocket(client, liveUrl(client, resumeAfter), signal, {
      maxFrameBytes: maxSnapshotBytes,
      maxFrameValues,
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
        const json = parseFrame(frame)
        if (json === null && !isFollowing) throw notMicwatch(client)
        const dropped = new Dropped()
        const message = json === null ? null : await readMessage(json, dropped)
        if (json === null) dropped.add('a message')
        if (json?.type === 'snapshot' && message === null && !isFollowing) throw cannotBeFollowed(client, dropped)
        isFollowing = true
        dropped.report(onDropped)
        if (message === null) continue
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
      maxFrameValues,
    })
    for await (const frame of frames) {
      if (frame === null) continue
      const message = parseFrame(frame)
      if (message === null) throw notMicwatch(client)
      if (message.type !== 'snapshot') continue
      const snapshot = await readMessage(message, new Dropped())
      if (snapshot?.type !== 'snapshot') return null
      return { installation: snapshot.installation, via: snapshot.via }
    }
    return null
  },

  async readEvents(client, path, { signal, onDropped }) {
    const { body } = await client.request('GET', path, {
      signal,
      kind: 'list',
      headers: { 'accept-encoding': 'gzip' },
    })
    const dropped = new Dropped()
    const events = readEvents(body, dropped)
    dropped.report(onDropped)
    return events ?? { results: [], next: null }
  },
})

/** The values of a snapshot have eight bytes on average. As many empty ones would take seconds to parse. */
function maxFrameValues(bytes: number): number {
  return Math.min(maxSnapshotValues, Math.max(maxShortValues, Math.floor(bytes / 5)))
}

function liveUrl({ settings }: UpstreamClient, resumeAfter: ResumePoint | null): string {
  // Requests all levels until others are selected, because older versions cannot select levels. `ack` keeps levels
  // current on a slow line: the next ones are sent only after these have arrived.
  const query = new URLSearchParams({ protocol: '2', levels: 'full', ack: '1' })
  if (resumeAfter !== null) {
    query.set('since', String(resumeAfter.seq))
    query.set('epoch', resumeAfter.epoch)
  }
  return `${settings.baseUrl}/ws?${query}`
}

/** Returns null for a frame that is not a message. */
function parseFrame(frame: string): Json | null {
  const message = parseJson(frame)
  return isRecord(message) && typeof message.type === 'string' ? message : null
}

function notMicwatch(client: UpstreamClient) {
  const { host } = new URL(client.settings.baseUrl)
  return new client.errors.ApiError(`${host} does not respond like Micwatch; check the address`, {
    failureKind: 'unusable',
  })
}

function cannotBeFollowed(client: UpstreamClient, { first }: Dropped) {
  const { host } = new URL(client.settings.baseUrl)
  const message = `${host} is no Micwatch that can be followed, or its version is too old (${first})`
  return new client.errors.ApiError(message, { failureKind: 'unusable' })
}

function revokedError(client: UpstreamClient) {
  const { host } = new URL(client.settings.baseUrl)
  return new client.errors.ApiError(`${host} no longer accepts the token; enter a new one`, { status: 401 })
}

/** Measures the round-trip time to the other installation. */
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

const readers = new Map(followedMessages.map((schema) => [schema.properties.type.const, createReader(schema)]))
const readEventList = createReader(FollowedEvents)
const readOneReceiver = createReader(FollowedReceiver)

/** Returns null for a message of an unused type, or one that does not match its schema. */
export async function readMessage(message: Json, dropped: Dropped): Promise<FollowedMessage | null> {
  const read = readers.get(message.type as FollowedMessage['type'])
  if (read === undefined) return null
  dropped.path.push(String(message.type))
  if (message.type !== 'snapshot' || !isRecord(message.data)) return found(read(message, dropped))
  dropped.path.push('data')
  const receivers = await readReceivers(message.data.receivers, dropped)
  dropped.path.pop()
  const snapshot = found<FollowedSnapshot>(
    read({ ...message, data: { ...message.data, receivers: receivers && [] } }, dropped),
  )
  return snapshot && receivers && { ...snapshot, data: { ...snapshot.data, receivers } }
}

/** Parses a list of receivers in time slices. Returns null for anything else. */
async function readReceivers(list: unknown, dropped: Dropped): Promise<FollowedReceiverBody[] | null> {
  if (!Array.isArray(list)) return null
  const receivers: FollowedReceiverBody[] = []
  for (const [index, receiver] of list.entries()) {
    if (isTimeSliceUsed()) await yieldToEventLoop()
    dropped.path.push('receivers', index)
    const read =
      receivers.length < siteLimits.receivers
        ? readOneReceiver(receiver, dropped)
        : dropped.add(`at most ${siteLimits.receivers} receivers`)
    if (read !== unreadable) receivers.push(read as FollowedReceiverBody)
    dropped.path.length -= 2
  }
  return receivers
}

export function readEvents(body: unknown, dropped: Dropped): FollowedEvents | null {
  return found(readEventList(body, dropped))
}

function found<Value>(value: unknown): Value | null {
  return value === unreadable ? null : (value as Value)
}

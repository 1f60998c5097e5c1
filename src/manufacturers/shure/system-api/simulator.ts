/**
 * Shure's System API server as its clients describe it: pages of nodes, resources by capability, subscriptions that die
 * with their socket. It wants its key in `x-api-key`, refuses empty bodies that claim to be JSON, and lists whatever
 * else stands in a rack: chargers, and the packs docked in them.
 */

import { randomUUID } from 'node:crypto'
import { type WebSocket, WebSocketServer } from 'ws'
import type { ShowDevice } from '../../../simulation/cast.ts'
import {
  type ApiRequest,
  type AuthorizationResult,
  type Reply,
  startDeviceApi,
} from '../../../simulation/device-api.ts'
import { startPushTimer } from '../../../simulation/push.ts'
import type { DeviceState } from '../../../simulation/show.ts'
import {
  createShowContext,
  type PushConnections,
  type Simulator,
  type SimulatorOptions,
  toSimulator,
} from '../../../simulation/simulator.ts'
import { checkContentType, closeSockets, createDigest, createDiscoveryList } from '../simulator.ts'

export interface SystemApiOptions extends SimulatorOptions {
  readonly sharedKey?: string
  /** Asks for a digest made with the key, as the interface specification has it, and not for the key itself. */
  readonly digest?: boolean
  /** Devices on one page of the list; 50 unless told. */
  readonly pageSize?: number
  /** Gives the first page whatever page is asked for. */
  readonly ignoresPaging?: boolean
  /** Bodypacks in a networked charger, and the charger; none unless told. */
  readonly dockedPacks?: number
  /** Its settings name an adapter that does not exist: it finds nothing, and says nothing of it. */
  readonly wrongAdapter?: boolean
}

export interface SystemApiSimulator extends Simulator {
  /** The addresses the server searches for devices. */
  readonly discoveryIps: readonly string[]
  /** Resources subscribed at the moment, over all sockets. */
  readonly subscriptions: readonly string[]
  /** It knows of the device, but cannot speak with it yet; false: now it can. */
  setDiscovered(showId: string, isOnly: boolean): void
}

/** One thing that stands in the list. */
interface Entry {
  readonly id: string
  readonly node: object
  /** By path below the device. */
  readonly resources: Readonly<Record<string, object>>
}

interface Client {
  readonly socket: WebSocket
  readonly transport: string
  /** What was told last of everything subscribed, by its path. */
  readonly told: Map<string, string>
}

const devicesPath = '/api/v1/devices'
const socketPath = '/api/v1/subscriptions/websocket/create'
const rackCapabilities = ['audio-network', 'control-network', 'factory-reset', 'identify', 'name', 'reboot', 'uptime']

export async function startSystemApiSimulator(options: SystemApiOptions = {}): Promise<SystemApiSimulator> {
  const { sharedKey = 'stage-left-shared-key', pageSize = 50, now = Date.now } = options
  const stage = createShowContext('shure', 13, options)
  const discovered = new Set<string>()
  const discovery = createDiscoveryList(false)
  const server = new WebSocketServer({ noServer: true, autoPong: false, perMessageDeflate: false, maxPayload: 65_536 })
  const clients = new Set<Client>()
  const digest = createDigest({ username: 'api', sharedKey, now })

  const look = (): readonly Entry[] => {
    const states = options.wrongAdapter ? [] : stage.show.devicesAt(stage.elapsed(), 'shure')
    return [...states.map((state) => toEntry(state, discovered)), ...dockedIn(states, options.dockedPacks ?? 0)]
  }
  const api = await startDeviceApi(
    {
      ...stage,
      authorize: (asked) => (options.digest ? digest(asked) : checkKey(asked, sharedKey)),
      handle: (asked) =>
        checkContentType(asked) ??
        discovery.answer(asked) ??
        answerList(asked, look(), { pageSize, ignoresPaging: options.ignoresPaging ?? false }) ??
        answerSubscription(asked, look(), clients) ??
        answerResource(asked, look()),
      upgrade(asked, request, socket, head) {
        if (asked.path !== socketPath) return false
        server.handleUpgrade(request, socket, head, (client) => greet(client))
        return true
      },
      dropConnections: () => {
        for (const { socket } of clients) socket.terminate()
      },
    },
    options,
  )
  const greet = (socket: WebSocket) => {
    const client = { socket, transport: randomUUID(), told: new Map() }
    clients.add(client)
    socket.on('close', () => clients.delete(client))
    socket.on('ping', (data) => api.isSilent() || socket.pong(data))
    socket.on('error', () => socket.terminate())
    if (!api.isSilent()) socket.send(JSON.stringify({ transportId: client.transport }))
    beat.start()
  }

  let sent = 0
  const send = (socket: WebSocket, text: string) => {
    if (api.isSilent()) return
    socket.send(text)
    sent++
  }
  const links: PushConnections = {
    count: () => clients.size,
    sent: () => sent,
    send: (text) => {
      for (const { socket } of clients) send(socket, text)
    },
    close: () => closeSockets(server),
  }
  const tell = () => {
    const entries = look()
    for (const { socket, told } of clients) for (const frame of changesOf(entries, told)) send(socket, frame)
  }
  const isHeard = () => clients.size > 0
  const beat = startPushTimer({
    ...stage,
    perSecond: options.pushesPerSecond ?? 5,
    hasSubscribers: isHeard,
    publish: tell,
  })

  const config = {
    api_base_url: api.baseUrl,
    shared_key: sharedKey,
    ...(options.tls === undefined ? {} : { ssl_verify: false }),
  }
  return Object.defineProperties(toSimulator(stage, { api, pushTimer: beat, connections: links, config }), {
    discoveryIps: { get: discovery.list },
    subscriptions: { get: () => [...clients].flatMap(({ told }) => [...told.keys()]) },
    setDiscovered: {
      value(showId: string, isOnly: boolean) {
        if (isOnly) discovered.add(showId)
        else discovered.delete(showId)
        tell()
      },
    },
  }) as SystemApiSimulator
}

/** As the first frames of a device's id are made from the address of its control port. */
export function systemIdOf({ mac_address }: Pick<ShowDevice, 'mac_address'>): string {
  return `${String(mac_address).replaceAll(':', '').slice(-8)}-0000-11dd-a000-000eddcccccc`
}

// --- What stands in the list ------------------------------------------------------------------------------------------

function toEntry({ device, online, channels }: DeviceState, discovered: ReadonlySet<string>): Entry {
  const id = systemIdOf(device)
  const communicationProtocol = { name: 'ESTA.DMP', address: device.ip }
  if (discovered.has(device.id)) {
    const node = {
      compatibility: 'COMPATIBLE_LATEST',
      deviceState: 'DISCOVERED',
      hardwareIdentity: { deviceId: id },
      softwareIdentity: { model: device.model },
      communicationProtocol,
      capabilities: [],
    }
    return { id, node, resources: {} }
  }
  const node = {
    compatibility: 'COMPATIBLE_LATEST',
    deviceState: online ? 'ONLINE' : 'OFFLINE',
    hardwareIdentity: { deviceId: id, serialNumber: device.serial_number },
    softwareIdentity: { firmwareVersion: device.firmware_version, firmwareValid: true, model: device.model },
    communicationProtocol,
    capabilities: ['audio-channels', ...rackCapabilities],
  }
  if (!online) return { id, node, resources: {} }
  const listed = channels.map(({ channel }) => ({
    id: channelIdOf(device, channel),
    role: 'SOURCE',
    group: 'GENERIC',
    capabilities: ['activity', 'gain', 'name'],
  }))
  const ofChannels = channels.flatMap(({ channel, name, audio_level }): [string, object][] => {
    const path = `audio-channels/${channelIdOf(device, channel)}`
    return [
      [`${path}/name`, { name }],
      [`${path}/gain`, { gain: 0 }],
      [`${path}/activity`, { audioLevel: wordFor(audio_level) }],
    ]
  })
  const resources = { name: { name: device.name }, identify: { identifying: false }, 'audio-channels': listed }
  return { id, node, resources: { ...resources, ...Object.fromEntries(ofChannels) } }
}

function channelIdOf({ model }: ShowDevice, channel: number): string {
  const told = { t: 'AudioChannel', c: model, v: 131_088, s: 'CH', i: channel - 1 }
  return Buffer.from(JSON.stringify(told)).toString('base64')
}

function wordFor(level: number | null): string {
  if (level === null || level < -50) return 'LOW'
  return level > -3 ? 'CLIPPING' : 'GOOD'
}

/** A charger, and in its bays what the first performers wear. */
function dockedIn(states: readonly DeviceState[], count: number): Entry[] {
  if (count === 0) return []
  const packs = states.flatMap(({ channels }) => channels.flatMap(({ transmitter }) => transmitter ?? []))
  const node = (at: number, model: string, capabilities: readonly string[]) => ({
    compatibility: 'COMPATIBLE_LATEST',
    deviceState: 'ONLINE',
    hardwareIdentity: { deviceId: chargedId(at), serialNumber: `CH${at}` },
    softwareIdentity: { firmwareVersion: '1.5.1.0', firmwareValid: true, model },
    communicationProtocol: { name: 'ESTA.DMP', address: '10.20.10.250' },
    capabilities,
  })
  const docked = packs.slice(0, count).map(({ name, battery }, at): Entry => {
    const status = { currentState: 'DISCHARGING', targetState: 'EMPTY', timeToTargetState: `PT${battery * 5}M` }
    return {
      id: chargedId(at + 1),
      node: node(at + 1, 'ULXD1', ['battery-health', 'battery-level', 'name']),
      resources: {
        name: { name },
        'battery-level': { percentage: battery, status },
        'battery-health': { percentage: 97, cycleCount: 31 },
      },
    }
  })
  const charger = {
    id: chargedId(0),
    node: node(0, 'SBRC', rackCapabilities),
    resources: { name: { name: 'Charger' } },
  }
  return [charger, ...docked]
}

function chargedId(at: number): string {
  return `DDC0FF${at.toString(16).padStart(2, '0').toUpperCase()}-0000-11dd-a000-000eddcccccc`
}

// --- What is answered -------------------------------------------------------------------------------------------------

function answerList(
  { method, path, target }: ApiRequest,
  entries: readonly Entry[],
  { pageSize, ignoresPaging }: { pageSize: number; ignoresPaging: boolean },
): Reply | undefined {
  if (path !== devicesPath) return undefined
  if (method !== 'GET') return refuse(405)
  const after = ignoresPaging ? null : new URL(target, 'http://server').searchParams.get('after')
  const start = after === null ? 0 : entries.findIndex(({ id }) => cursorOf(id) === after) + 1
  const edges = entries.slice(start, start + pageSize).map(({ id, node }) => ({ cursor: cursorOf(id), node }))
  const pageInfo = {
    hasNextPage: start + pageSize < entries.length,
    hasPreviousPage: start > 0,
    startCursor: edges[0]?.cursor ?? null,
    endCursor: edges.at(-1)?.cursor ?? null,
  }
  return { status: 200, body: { pageInfo, edges } }
}

function cursorOf(id: string): string {
  return Buffer.from(`after:${id}`).toString('base64')
}

/** `POST` or `DELETE …/subscription/{transportId}`: of the list, or of one resource. */
function answerSubscription(
  asked: ApiRequest,
  entries: readonly Entry[],
  clients: ReadonlySet<Client>,
): Reply | undefined {
  const [, subject, transport] = /^\/api\/v1\/devices\/(?:(.+)\/)?subscription\/([^/]+)$/.exec(asked.path) ?? []
  if (transport === undefined) return undefined
  if (asked.method !== 'POST' && asked.method !== 'DELETE') return refuse(405)
  const client = [...clients].find((one) => one.transport === transport)
  if (client === undefined) return refuse(404)
  const key = subject ?? ''
  const value = bodyAt(entries, key)
  if (value === undefined) return refuse(404)
  if (value === null) return refuse(405)
  if (asked.method === 'POST') client.told.set(key, JSON.stringify(value))
  else client.told.delete(key)
  return { status: 204 }
}

function answerResource({ method, path }: ApiRequest, entries: readonly Entry[]): Reply {
  if (!path.startsWith(`${devicesPath}/`)) return refuse(404)
  const value = bodyAt(entries, path.slice(devicesPath.length + 1))
  if (value === undefined) return refuse(404)
  if (value === null || method !== 'GET') return refuse(405)
  return { status: 200, body: value }
}

/** What stands at `<device id>[/<resource>]`; '' is all nodes. Undefined: no such device; null: it lacks the resource. */
function bodyAt(entries: readonly Entry[], key: string): object | null | undefined {
  if (key === '') return entries.map(({ node }) => node)
  const { entry, path } = find(entries, key)
  if (entry === undefined || path === '') return entry?.node
  return entry.resources[path] ?? null
}

function find(entries: readonly Entry[], key: string): { entry: Entry | undefined; path: string } {
  const [id = '', ...path] = key.split('/').map(decode)
  return { entry: entries.find((one) => one.id.toLowerCase() === id.toLowerCase()), path: path.join('/') }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function refuse(status: number): Reply {
  const title = { 404: 'Not Found', 405: 'The device does not have this capability.' }[status] ?? 'Refused'
  return { status, body: { type: 'about:blank', title, status } }
}

function checkKey({ path, headers }: ApiRequest, sharedKey: string): AuthorizationResult {
  const key = headers['x-api-key']
  // The socket itself is open to anybody; nothing comes over it before a call with the key has asked for it.
  if (path === socketPath || key === sharedKey) return { ok: true }
  const reason = key === undefined ? 'no-credentials' : 'wrong-credentials'
  return { ok: false, reason, answer: { status: 401, body: { title: 'Request Unauthorized.', status: 401 } } }
}

// --- What is pushed ---------------------------------------------------------------------------------------------------

const eventNames: Readonly<Record<string, string>> = {
  name: 'DEVICE_NAME',
  identify: 'DEVICE_IDENTIFY',
  'battery-level': 'DEVICE_BATTERY_LEVEL',
  'battery-health': 'DEVICE_BATTERY_HEALTH',
  'audio-channels/name': 'AUDIO_CHANNEL_NAME',
  'audio-channels/gain': 'AUDIO_CHANNEL_GAIN',
  'audio-channels/activity': 'AUDIO_CHANNEL_ACTIVITY',
}

/** Frames for everything that is not as it was told last; notes what is told now. */
function changesOf(entries: readonly Entry[], told: Map<string, string>): string[] {
  const frames: string[] = []
  for (const [key, before] of told) {
    const value = bodyAt(entries, key)
    const text = JSON.stringify(value)
    if (!value || text === before) continue
    told.set(key, text)
    if (key === '') frames.push(...changedNodes(entries, JSON.parse(before)))
    else {
      const { entry, path } = find(entries, key)
      const [, channel] = /^audio-channels\/([^/]+)\//.exec(path) ?? []
      const eventName = eventNames[path.replace(/\/[^/]+\//, '/')]
      const envelope = { eventName, deviceId: entry?.id, ...(channel && { audioChannelId: channel }) }
      frames.push(JSON.stringify({ envelope, body: value }))
    }
  }
  return frames
}

function changedNodes(entries: readonly Entry[], before: readonly object[]): string[] {
  const known = new Set(before.map((node) => JSON.stringify(node)))
  return entries
    .filter(({ node }) => !known.has(JSON.stringify(node)))
    .map(({ id, node }) => JSON.stringify({ envelope: { eventName: 'DEVICE_STATE_CHANGE', deviceId: id }, body: node }))
}

/**
 * Simulates Shure's System API server as its public clients describe it: pages of nodes, resources by capability,
 * subscriptions that end with their socket. It requires the key in `x-api-key`, rejects empty JSON bodies, and also
 * lists chargers and the packs docked in them.
 */

import { randomUUID } from 'node:crypto'
import { type WebSocket, WebSocketServer } from 'ws'
import type { ShowDevice } from '../show/cast.ts'
import { type ApiRequest, type AuthorizationResult, type Reply, startDeviceApi } from '../show/device-api.ts'
import { startPushTimer } from '../show/push.ts'
import type { DeviceState } from '../show/show.ts'
import {
  createShowContext,
  type PushConnections,
  type Simulator,
  type SimulatorOptions,
  toSimulator,
} from '../show/simulator.ts'
import { checkContentType, closeSockets, createDigest, createDiscoveryList } from './device-api.ts'

export interface SystemApiOptions extends SimulatorOptions {
  readonly sharedKey?: string
  /** Requires HTTP Digest with the key, as systems with the common device API do, instead of the key itself. */
  readonly digest?: boolean
  /** Devices on one page of the list. Default: 50. */
  readonly pageSize?: number
  /** Always returns the first page. */
  readonly ignoresPaging?: boolean
  /** Number of bodypacks in a networked charger, which is also listed. Default: none. */
  readonly dockedPacks?: number
  /** The server's settings name a network adapter that does not exist, so the list is empty without an error. */
  readonly wrongAdapter?: boolean
}

export interface SystemApiSimulator extends Simulator {
  /** Ids of the devices that flash. */
  readonly identifying: ReadonlySet<string>
  /** The addresses that the server searches for devices. */
  readonly discoveryIps: readonly string[]
  /** Current subscriptions of all sockets. */
  readonly subscriptions: readonly string[]
  /** Sets whether the device is only discovered (true) or also connected to the server (false). */
  setDiscovered(showId: string, isOnly: boolean): void
}

/** One entry of the list. */
interface Entry {
  readonly id: string
  readonly node: object
  /** Keyed by path relative to the device. */
  readonly resources: Readonly<Record<string, object>>
}

interface Client {
  readonly socket: WebSocket
  readonly transport: string
  /** The last value sent for each subscribed path. */
  readonly sentValues: Map<string, string>
}

const devicesPath = '/api/v1/devices'
const socketPath = '/api/v1/subscriptions/websocket/create'
const rackCapabilities = ['audio-network', 'control-network', 'factory-reset', 'identify', 'name', 'reboot', 'uptime']

export async function startSystemApiSimulator(options: SystemApiOptions = {}): Promise<SystemApiSimulator> {
  const { sharedKey = 'stage-left-shared-key', pageSize = 50, now = Date.now } = options
  const context = createShowContext('shure', 13, options)
  const discovered = new Set<string>()
  const identifying = new Set<string>()
  const discovery = createDiscoveryList(false)
  const server = new WebSocketServer({ noServer: true, autoPong: false, perMessageDeflate: false, maxPayload: 65_536 })
  const clients = new Set<Client>()
  const digest = createDigest({ username: 'api', sharedKey, now })

  const getEntries = (): readonly Entry[] => {
    const states = options.wrongAdapter ? [] : context.show.devicesAt(context.elapsed(), 'shure')
    return [...states.map((state) => toEntry(state, discovered)), ...toDockedEntries(states, options.dockedPacks ?? 0)]
  }
  const api = await startDeviceApi(
    {
      ...context,
      authorize: (apiRequest) => (options.digest ? digest(apiRequest) : checkKey(apiRequest, sharedKey)),
      handle: (apiRequest) =>
        checkContentType(apiRequest) ??
        discovery.handle(apiRequest) ??
        handleList(apiRequest, getEntries(), { pageSize, ignoresPaging: options.ignoresPaging ?? false }) ??
        handleSubscription(apiRequest, getEntries(), clients) ??
        handleIdentify(apiRequest, getEntries(), identifying) ??
        handleResource(apiRequest, getEntries()),
      upgrade(apiRequest, request, socket, head) {
        if (apiRequest.path !== socketPath) return false
        server.handleUpgrade(request, socket, head, (client) => accept(client))
        return true
      },
      dropConnections: () => {
        for (const { socket } of clients) socket.terminate()
      },
    },
    options,
  )
  const accept = (socket: WebSocket) => {
    const client = { socket, transport: randomUUID(), sentValues: new Map() }
    clients.add(client)
    socket.on('close', () => clients.delete(client))
    socket.on('ping', (data) => api.isSilent() || socket.pong(data))
    socket.on('error', () => socket.terminate())
    if (!api.isSilent()) socket.send(JSON.stringify({ transportId: client.transport }))
    pushTimer.start()
  }

  let sent = 0
  const send = (socket: WebSocket, text: string) => {
    if (api.isSilent()) return
    socket.send(text)
    sent++
  }
  const connections: PushConnections = {
    count: () => clients.size,
    sent: () => sent,
    send: (text) => {
      for (const { socket } of clients) send(socket, text)
    },
    close: () => closeSockets(server),
  }
  const pushChanges = () => {
    const entries = getEntries()
    for (const { socket, sentValues } of clients)
      for (const frame of toChangeFrames(entries, sentValues)) send(socket, frame)
  }
  const hasClients = () => clients.size > 0
  const pushTimer = startPushTimer({
    ...context,
    perSecond: options.pushesPerSecond ?? 5,
    hasSubscribers: hasClients,
    publish: pushChanges,
  })

  const config = {
    api_base_url: api.baseUrl,
    shared_key: sharedKey,
    ...(options.tls === undefined ? {} : { ssl_verify: false }),
  }
  return Object.defineProperties(toSimulator(context, { api, pushTimer, connections, config }), {
    discoveryIps: { get: discovery.list },
    identifying: { value: identifying },
    subscriptions: { get: () => [...clients].flatMap(({ sentValues }) => [...sentValues.keys()]) },
    setDiscovered: {
      value(showId: string, isOnly: boolean) {
        if (isOnly) discovered.add(showId)
        else discovered.delete(showId)
        pushChanges()
      },
    },
  }) as SystemApiSimulator
}

/** Derives a device id from the MAC address of the control port. */
export function systemIdOf({ mac_address }: ShowDevice): string {
  return `${String(mac_address).replaceAll(':', '').slice(-8)}-0000-11dd-a000-000eddcccccc`
}

// --- Entries of the list ----------------------------------------------------------------------------------------------

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
  const audioChannels = channels.map(({ channel }) => ({
    id: channelIdOf(device, channel),
    role: 'SOURCE',
    group: 'GENERIC',
    capabilities: ['activity', 'gain', 'name'],
  }))
  const channelResources = channels.flatMap(({ channel, name, audio_level }): [string, object][] => {
    const path = `audio-channels/${channelIdOf(device, channel)}`
    return [
      [`${path}/name`, { name }],
      [`${path}/gain`, { gain: 0 }],
      [`${path}/activity`, { audioLevel: toActivity(audio_level) }],
    ]
  })
  const resources = { name: { name: device.name }, identify: { identifying: false }, 'audio-channels': audioChannels }
  return { id, node, resources: { ...resources, ...Object.fromEntries(channelResources) } }
}

function channelIdOf({ model }: ShowDevice, channel: number): string {
  const content = { t: 'AudioChannel', c: model, v: 131_088, s: 'CH', i: channel - 1 }
  return Buffer.from(JSON.stringify(content)).toString('base64')
}

function toActivity(level: number | null): string {
  if (level === null || level < -50) return 'LOW'
  return level > -3 ? 'CLIPPING' : 'GOOD'
}

/** Returns the entries of a charger and of the show's first transmitters, which are in its bays. */
function toDockedEntries(states: readonly DeviceState[], count: number): Entry[] {
  if (count === 0) return []
  const packs = states.flatMap(({ channels }) => channels.flatMap(({ transmitter }) => transmitter ?? []))
  const node = (index: number, model: string, capabilities: readonly string[]) => ({
    compatibility: 'COMPATIBLE_LATEST',
    deviceState: 'ONLINE',
    hardwareIdentity: { deviceId: chargerId(index), serialNumber: `CH${index}` },
    softwareIdentity: { firmwareVersion: '1.5.1.0', firmwareValid: true, model },
    communicationProtocol: { name: 'ESTA.DMP', address: '10.20.10.250' },
    capabilities,
  })
  const docked = packs.slice(0, count).map(({ name, battery }, index): Entry => {
    const status = { currentState: 'DISCHARGING', targetState: 'EMPTY', timeToTargetState: `PT${battery * 5}M` }
    return {
      id: chargerId(index + 1),
      node: node(index + 1, 'ULXD1', ['battery-health', 'battery-level', 'name']),
      resources: {
        name: { name },
        'battery-level': { percentage: battery, status },
        'battery-health': { percentage: 97, cycleCount: 31 },
      },
    }
  })
  const charger = {
    id: chargerId(0),
    node: node(0, 'SBRC', rackCapabilities),
    resources: { name: { name: 'Charger' } },
  }
  return [charger, ...docked]
}

function chargerId(index: number): string {
  return `DDC0FF${index.toString(16).padStart(2, '0').toUpperCase()}-0000-11dd-a000-000eddcccccc`
}

// --- Responses --------------------------------------------------------------------------------------------------------

function handleList(
  { method, path, target }: ApiRequest,
  entries: readonly Entry[],
  { pageSize, ignoresPaging }: { pageSize: number; ignoresPaging: boolean },
): Reply | undefined {
  if (path !== devicesPath) return undefined
  if (method !== 'GET') return errorReply(405)
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

/** Handles `POST` and `DELETE …/subscription/{transportId}` for the list or one resource. */
function handleSubscription(
  apiRequest: ApiRequest,
  entries: readonly Entry[],
  clients: ReadonlySet<Client>,
): Reply | undefined {
  const [, subject, transport] = /^\/api\/v1\/devices\/(?:(.+)\/)?subscription\/([^/]+)$/.exec(apiRequest.path) ?? []
  if (transport === undefined) return undefined
  if (apiRequest.method !== 'POST' && apiRequest.method !== 'DELETE') return errorReply(405)
  const client = [...clients].find((candidate) => candidate.transport === transport)
  if (client === undefined) return errorReply(404)
  const key = subject ?? ''
  const value = findBody(entries, key)
  if (value === undefined) return errorReply(404)
  if (value === null) return errorReply(405)
  if (apiRequest.method === 'POST') client.sentValues.set(key, JSON.stringify(value))
  else client.sentValues.delete(key)
  return { status: 204 }
}

/** Handles `POST …/identify/start` and `stop`. */
function handleIdentify({ method, path }: ApiRequest, entries: readonly Entry[], identifying: Set<string>) {
  const [, key = '', action] = /^\/api\/v1\/devices\/(.+)\/identify\/(start|stop)$/.exec(path) ?? []
  if (action === undefined) return undefined
  if (method !== 'POST') return errorReply(405)
  const { entry } = find(entries, key)
  if (entry === undefined) return errorReply(404)
  if (entry.resources.identify === undefined) return errorReply(405)
  if (action === 'start') identifying.add(entry.id)
  else identifying.delete(entry.id)
  return { status: 204 }
}

function handleResource({ method, path }: ApiRequest, entries: readonly Entry[]): Reply {
  if (!path.startsWith(`${devicesPath}/`)) return errorReply(404)
  const value = findBody(entries, path.slice(devicesPath.length + 1))
  if (value === undefined) return errorReply(404)
  if (value === null || method !== 'GET') return errorReply(405)
  return { status: 200, body: value }
}

/**
 * Returns the body of `<device id>[/<resource>]`, or all nodes for ''. Returns undefined if the device does not exist,
 * and null if it does not have the resource.
 */
function findBody(entries: readonly Entry[], key: string): object | null | undefined {
  if (key === '') return entries.map(({ node }) => node)
  const { entry, path } = find(entries, key)
  if (entry === undefined || path === '') return entry?.node
  return entry.resources[path] ?? null
}

function find(entries: readonly Entry[], key: string): { entry: Entry | undefined; path: string } {
  const [id = '', ...path] = key.split('/').map(decode)
  return { entry: entries.find((candidate) => candidate.id.toLowerCase() === id.toLowerCase()), path: path.join('/') }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function errorReply(status: number): Reply {
  const title = { 404: 'Not Found', 405: 'The device does not have this capability.' }[status] ?? 'Refused'
  return { status, body: { type: 'about:blank', title, status } }
}

function checkKey({ path, headers }: ApiRequest, sharedKey: string): AuthorizationResult {
  const key = headers['x-api-key']
  // The socket needs no key: it sends only a transport id until an authorized request subscribes to a resource.
  if (path === socketPath || key === sharedKey) return { ok: true }
  const reason = key === undefined ? 'no-credentials' : 'wrong-credentials'
  return { ok: false, reason, response: { status: 401, body: { title: 'Request Unauthorized.', status: 401 } } }
}

// --- Events -----------------------------------------------------------------------------------------------------------

const eventNames: Readonly<Record<string, string>> = {
  name: 'DEVICE_NAME',
  identify: 'DEVICE_IDENTIFY',
  'battery-level': 'DEVICE_BATTERY_LEVEL',
  'battery-health': 'DEVICE_BATTERY_HEALTH',
  'audio-channels/name': 'AUDIO_CHANNEL_NAME',
  'audio-channels/gain': 'AUDIO_CHANNEL_GAIN',
  'audio-channels/activity': 'AUDIO_CHANNEL_ACTIVITY',
}

/** Returns frames for all values that changed since they were last sent, and stores the new values. */
function toChangeFrames(entries: readonly Entry[], sentValues: Map<string, string>): string[] {
  const frames: string[] = []
  for (const [key, previous] of sentValues) {
    const value = findBody(entries, key)
    const text = JSON.stringify(value)
    if (!value || text === previous) continue
    sentValues.set(key, text)
    if (key === '') frames.push(...toNodeFrames(entries, JSON.parse(previous)))
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

function toNodeFrames(entries: readonly Entry[], previous: readonly object[]): string[] {
  const known = new Set(previous.map((node) => JSON.stringify(node)))
  return entries
    .filter(({ node }) => !known.has(JSON.stringify(node)))
    .map(({ id, node }) => JSON.stringify({ envelope: { eventName: 'DEVICE_STATE_CHANGE', deviceId: id }, body: node }))
}

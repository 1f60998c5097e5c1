/**
 * The adapter for Shure's System API server: pages of device nodes, one resource per property, and a WebSocket that
 * pushes subscribed resources.
 */

import type { DeviceProblem } from '../../../domain/equipment/health.ts'
import type { DeviceReport } from '../../../domain/equipment/receiver.ts'
import type { UpstreamClient } from '../../../upstream/client.ts'
import { wrongShape } from '../../../upstream/device-api.ts'
import { createMisfits } from '../../../upstream/field-table.ts'
import { type DeviceList, defineAdapter } from '../../plugin.ts'
import { addDiscoveryIps, getDiscoveryIps, removeDiscoveryIps } from '../system.ts'
import { listAudioChannels, listNodes, readResource, setIdentifying } from './client.ts'
import {
  hasAudioChannels,
  isIdentified,
  isInfrastructure,
  listFields,
  type Resource,
  resourcesOf,
  type SystemDevice,
  toDeviceReport,
} from './device.ts'
import { fields } from './fields.ts'
import { subscribe } from './realtime.ts'
import { type DeviceNode, isDevicePage } from './schema.ts'

export const systemApi = defineAdapter<SystemDevice>({
  protocol: 'system-api',
  listDevices,

  partsOf(device) {
    const { node } = device
    if (node.state !== 'ONLINE') return []
    const hasIdentity = node.capabilities.includes('name') || hasAudioChannels(node)
    return [...(hasIdentity ? ['identity'] : []), ...levelResources(device).map(({ path }) => path)]
  },

  async readPart(client, device, part, signal) {
    if (part === 'identity') return readIdentity(client, device, signal)
    const resource = resourcesOf(device).find(({ path }) => path === part)
    return resource === undefined ? device : readResourceInto(client, device, resource, signal)
  },

  hasIdentity: isIdentified,
  withEarlierIdentity(listed, { channels, values: { name }, refused, bodies }) {
    const values: SystemDevice['values'] = name === undefined ? {} : { name }
    return { ...listed, ...(channels && { channels }), values, refused, bodies }
  },
  isSameIdentity: (listed, before) => JSON.stringify(listed.node) === JSON.stringify(before.node),

  transformDeviceData: toDeviceReport,
  problemsOf(device) {
    const { node, refused = new Map(), bodies = new Map() } = device
    const subject = node.model ?? node.id
    const misfits = createMisfits(`device ${subject}`, fields)
    const paths = new Set(resourcesOf(device).map(({ path }) => path))
    for (const [path, body] of bodies) if (paths.has(path)) misfits.check(listFields(path, body))
    misfits.setRefused(new Map([...refused].filter(([path]) => paths.has(path))))
    return misfits
      .list()
      .map((problem) => ({ ...problem, device: node.ip === null ? subject : `${subject} (${node.ip})` }))
  },
  // The activity of a channel is a word, not a level.
  levels: () => ({ rf: null, audio: null }),
  transport: 'websocket',
  subscribe,
  lights: {
    areIn: () => true,
    flash: async (client, { deviceId, isOn }, signal) =>
      (await setIdentifying(client, deviceId, isOn, signal)) ? { channel: null } : null,
  },
  discovery: { getDiscoveryIps, addDiscoveryIps, removeDiscoveryIps },
})

export async function isSystemApi(client: UpstreamClient, signal?: AbortSignal): Promise<boolean> {
  const { body } = await client.request('GET', '/api/v1/devices', { signal, kind: 'list' })
  return isDevicePage(body)
}

/**
 * Identifies a System API server without credentials, by its device list or its error response. This server responds
 * with JSON or with a digest challenge. Other servers at the same port (Webmin, for example) respond with HTML.
 */
export async function identifySystemApi(client: UpstreamClient, signal?: AbortSignal): Promise<DeviceReport> {
  const { host, hostname } = new URL(client.settings.baseUrl)
  const { status, headers, body } = await client.request('GET', '/api/v1/devices', {
    signal,
    kind: 'list',
    accept: [401, 403],
  })
  const isApiError = /json/i.test(headers['content-type'] ?? '') || /^digest/i.test(headers['www-authenticate'] ?? '')
  if (status < 400 ? !isDevicePage(body) : !isApiError) throw wrongShape(client)
  return { id: `system-api:${host}`, kind: 'receiver', ip: hostname, device_type: 'system', model_name: 'System API' }
}

async function listDevices(client: UpstreamClient, signal?: AbortSignal): Promise<DeviceList<SystemDevice>> {
  const nodes = await listNodes(client, signal)
  const valid = nodes.filter((node) => node !== null)
  if (valid.length === 0 && nodes.length > 0) throw wrongShape(client)
  const problems = findProblems(nodes)
  return {
    devices: valid.filter((node) => !isInfrastructure(node)).map((node) => ({ id: node.id, node, values: {} })),
    malformed: nodes.length - valid.length,
    ...(problems.length > 0 && { problems }),
  }
}

function findProblems(nodes: readonly (DeviceNode | null)[]): readonly DeviceProblem[] {
  if (nodes.length === 0) {
    // A server with the wrong network adapter selected reports an empty list and no error.
    const problem =
      'it is empty. Check that Discovery.NetworkInterfaceId in the server settings names its network adapter'
    return [{ subject: 'the list', problem }]
  }
  return nodes.flatMap((node, index) => {
    const entry = `entry ${index + 1} of the list`
    if (node === null) return [{ subject: entry, problem: 'it has no deviceId or deviceState', device: entry }]
    if (!node.isTooOld) return []
    const { id, model, ip } = node
    const device = [model ?? id, ...(ip === null ? [] : [`(${ip})`])].join(' ')
    return [{ subject: `device ${model ?? id}`, problem: 'its firmware is too old for the System API', device }]
  })
}

/** Returns all resources except the device name, which belongs to the identity. */
function levelResources(device: SystemDevice): readonly Resource[] {
  return resourcesOf(device).filter(({ path }) => path !== 'name')
}

async function readIdentity(client: UpstreamClient, device: SystemDevice, signal?: AbortSignal): Promise<SystemDevice> {
  const { node } = device
  const name = resourcesOf(device).find(({ path }) => path === 'name')
  const namedDevice = name === undefined ? device : await readResourceInto(client, device, name, signal)
  return hasAudioChannels(node)
    ? { ...namedDevice, channels: await listAudioChannels(client, node, signal) }
    : namedDevice
}

/**
 * Reads a resource and adds it to the device. If the device does not have it, or the response is malformed or an error
 * that affects only this device, the previous value is kept. Without one, the value is empty. Throws other errors.
 */
async function readResourceInto(
  client: UpstreamClient,
  device: SystemDevice,
  resource: Resource,
  signal?: AbortSignal,
): Promise<SystemDevice> {
  const { path } = resource
  const refused = new Map(device.refused)
  refused.delete(path)
  const body = await readResource(client, device.node, resource, signal, (status) => {
    refused.set(path, `status ${status}`)
  })
  const bodies = new Map(device.bodies).set(path, body)
  const valid = resource.parse(body)
  const value = valid ?? device.values[path] ?? {}
  return { ...device, refused, bodies, values: { ...device.values, [path]: value } }
}

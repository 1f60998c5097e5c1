/**
 * Shure's System API server in its real form: pages of device nodes, a resource each for what can be told of them, and a
 * WebSocket that tells what was subscribed.
 */

import type { DeviceProblem } from '../../../model/health.ts'
import type { DeviceReport } from '../../../model/receiver.ts'
import type { UpstreamClient } from '../../../upstream/client.ts'
import { wrongShape } from '../../../upstream/device-api.ts'
import { type DeviceList, defineAdapter } from '../../plugin.ts'
import { addDiscoveryIps, getDiscoveryIps, removeDiscoveryIps } from '../discovery.ts'
import { listAudioChannels, listNodes, readResource } from './client.ts'
import {
  hasAudioChannels,
  isIdentified,
  isInfrastructure,
  type Resource,
  resourcesOf,
  type SystemDevice,
  toObservation,
} from './device.ts'
import { subscribe } from './realtime.ts'
import { type DeviceNode, isDevicePage } from './schema.ts'

export const systemApi = defineAdapter<SystemDevice>({
  listDevices,

  partsOf(device) {
    const { node } = device
    if (node.state !== 'ONLINE') return []
    const hasIdentityToTell = node.capabilities.includes('name') || hasAudioChannels(node)
    return [...(hasIdentityToTell ? ['identity'] : []), ...levelsOf(device).map(({ path }) => path)]
  },

  async readPart(client, device, part, signal) {
    if (part === 'identity') return readIdentity(client, device, signal)
    const resource = resourcesOf(device).find(({ path }) => path === part)
    return resource === undefined ? device : readInto(client, device, resource, signal)
  },

  hasIdentity: isIdentified,
  withEarlierIdentity(listed, { channels, answers: { name } }) {
    const answers: SystemDevice['answers'] = name === undefined ? {} : { name }
    return { ...listed, ...(channels && { channels }), answers }
  },
  isSameIdentity: (listed, before) => JSON.stringify(listed.node) === JSON.stringify(before.node),

  transformDeviceData: toObservation,
  transport: 'websocket',
  subscribe,
  discovery: { getDiscoveryIps, addDiscoveryIps, removeDiscoveryIps },
})

/** Whether the server answers a device list in the real form. */
export async function speaksSystemApi(client: UpstreamClient, signal?: AbortSignal): Promise<boolean> {
  const { body } = await client.request('GET', '/api/v1/devices', { signal })
  return isDevicePage(body)
}

/**
 * Who it is, as far as a stranger can tell: by its list where that is open, else by its refusal. This server refuses in
 * JSON, or asks for a digest as in the interface specification; others at the same port (Webmin for one) show a page.
 */
export async function meetSystemApi(client: UpstreamClient, signal?: AbortSignal): Promise<DeviceReport> {
  const { host, hostname } = new URL(client.settings.baseUrl)
  const { status, headers, body } = await client.request('GET', '/api/v1/devices', { signal, accept: [401, 403] })
  const isRefusal = /json/i.test(headers['content-type'] ?? '') || /^digest/i.test(headers['www-authenticate'] ?? '')
  if (status < 400 ? !isDevicePage(body) : !isRefusal) throw wrongShape(client)
  return { id: `system-api:${host}`, kind: 'receiver', ip: hostname, device_type: 'system', model_name: 'System API' }
}

async function listDevices(client: UpstreamClient, signal?: AbortSignal): Promise<DeviceList<SystemDevice>> {
  const nodes = await listNodes(client, signal)
  const told = nodes.filter((node) => node !== null)
  if (told.length === 0 && nodes.length > 0) throw wrongShape(client)
  const problems = complain(nodes)
  return {
    devices: told.filter((node) => !isInfrastructure(node)).map((node) => ({ id: node.id, node, answers: {} })),
    malformed: nodes.length - told.length,
    ...(problems.length > 0 && { problems }),
  }
}

function complain(nodes: readonly (DeviceNode | null)[]): readonly DeviceProblem[] {
  if (nodes.length === 0) {
    // A wrong adapter gives no error there.
    const problem = 'it is empty; does Discovery.NetworkInterfaceId in the settings of the server name its adapter?'
    return [{ about: 'the list', problem }]
  }
  return nodes.flatMap((node, at) => {
    const entry = `entry ${at + 1} of the list`
    if (node === null) return [{ about: entry, problem: 'it has no deviceId or deviceState', device: entry }]
    if (!node.isTooOld) return []
    const { id, model, ip } = node
    const device = [model ?? id, ...(ip === null ? [] : [`(${ip})`])].join(' ')
    return [{ about: `device ${model ?? id}`, problem: 'its firmware is too old for the System API', device }]
  })
}

/** What changes while a device is listened to; its own name belongs to its identity. */
function levelsOf(device: SystemDevice): readonly Resource[] {
  return resourcesOf(device).filter(({ path }) => path !== 'name')
}

async function readIdentity(client: UpstreamClient, device: SystemDevice, signal?: AbortSignal): Promise<SystemDevice> {
  const { node } = device
  const name = resourcesOf(device).find(({ path }) => path === 'name')
  const named = name === undefined ? device : await readInto(client, device, name, signal)
  return hasAudioChannels(node) ? { ...named, channels: await listAudioChannels(client, node, signal) } : named
}

/** A resource that is refused or makes no sense has told nothing, and that is an answer too. */
async function readInto(
  client: UpstreamClient,
  device: SystemDevice,
  resource: Resource,
  signal?: AbortSignal,
): Promise<SystemDevice> {
  const told = resource.parse(await readResource(client, device.node, resource, signal))
  const answer = told ?? device.answers[resource.path] ?? {}
  return { ...device, answers: { ...device.answers, [resource.path]: answer } }
}

/** The requests of the Shure System API. */

import type { UpstreamClient } from '../../../upstream/client.ts'
import { readOptional, wrongShape } from '../../../upstream/device-api.ts'
import type { Resource } from './device.ts'
import { type AudioChannel, type DeviceNode, parseAudioChannels, parseDevicePage } from './schema.ts'

const devicesPath = '/api/v1/devices'
const maxPages = 100

/**
 * Lists all nodes, with null for a malformed one. The name of the paging parameter is not documented; `after` is common
 * for this kind of list. A server that ignores the parameter returns the same page again, which ends the list.
 */
export async function listNodes(client: UpstreamClient, signal?: AbortSignal): Promise<(DeviceNode | null)[]> {
  const nodes: (DeviceNode | null)[] = []
  const cursors = new Set<string>()
  for (let path = devicesPath; ; ) {
    const isFirst = cursors.size === 0
    const { body, status } = await client.request('GET', path, {
      signal,
      kind: 'list',
      accept: isFirst ? [] : [400, 404],
    })
    const page = parseDevicePage(body)
    if (page === undefined && status < 400) throw wrongShape(client)
    if (page === undefined || (page.next !== null && cursors.has(page.next))) return nodes
    nodes.push(...page.nodes)
    if (page.next === null || cursors.size >= maxPages) return nodes
    cursors.add(page.next)
    path = `${devicesPath}?after=${encodeURIComponent(page.next)}`
  }
}

/**
 * Returns an empty list if the device has no audio channels, or if the response is an error that affects only this
 * device.
 */
export async function listAudioChannels(
  client: UpstreamClient,
  node: DeviceNode,
  signal?: AbortSignal,
): Promise<AudioChannel[]> {
  return parseAudioChannels(await readOptional(client, `${pathOf(node)}/audio-channels`, signal))
}

/**
 * Returns the body of a resource; null if the device does not have it, and undefined if the response is an error that
 * affects only this device.
 */
export function readResource(
  client: UpstreamClient,
  node: DeviceNode,
  { path }: Resource,
  signal?: AbortSignal,
  onRefused?: (status: number) => void,
): Promise<unknown> {
  return readOptional(client, `${pathOf(node)}/${path}`, signal, onRefused)
}

/**
 * Subscribes to device state changes, or to one resource of a device. Returns false if the device does not have the
 * resource, or if the server currently rejects the subscription.
 */
export async function subscribeTo(
  client: UpstreamClient,
  target: { readonly transport: string; readonly scope?: { readonly node: DeviceNode; readonly resource: Resource } },
  signal: AbortSignal,
): Promise<boolean> {
  const subject =
    target.scope === undefined ? devicesPath : `${pathOf(target.scope.node)}/${target.scope.resource.path}`
  const path = `${subject}/subscription/${encodeURIComponent(target.transport)}`
  // The request has no body and no content type, because the server rejects an empty JSON body.
  const { status } = await client.request('POST', path, { signal, accept: [404, 405, 409, 500] })
  return status < 400
}

/** Starts or stops flashing. Returns false if the device has no such lights. Its id may be in lower case. */
export async function setIdentifying(
  client: UpstreamClient,
  deviceId: string,
  isOn: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const path = `${pathOf({ deviceId })}/identify/${isOn ? 'start' : 'stop'}`
  // Like a subscription, the request has no body.
  const { status } = await client.request('POST', path, { signal, accept: [404, 405] })
  return status < 400
}

function pathOf({ deviceId }: Pick<DeviceNode, 'deviceId'>): string {
  return `${devicesPath}/${encodeURIComponent(deviceId)}`
}

/** The calls of the Shure System API. */

import type { UpstreamClient } from '../../../upstream/client.ts'
import { readOptional, wrongShape } from '../../../upstream/device-api.ts'
import type { Resource } from './device.ts'
import { type AudioChannel, type DeviceNode, parseAudioChannels, parseDevicePage } from './schema.ts'

const devicesPath = '/api/v1/devices'
const maxPages = 100

/**
 * Every node of the list, null for one that makes no sense. How the following page is asked for is not documented;
 * `after` is the habit of such lists, and a server that does not know it gives the same page again.
 */
export async function listNodes(client: UpstreamClient, signal?: AbortSignal): Promise<(DeviceNode | null)[]> {
  const nodes: (DeviceNode | null)[] = []
  const cursors = new Set<string>()
  for (let path = devicesPath; ; ) {
    const isFirst = cursors.size === 0
    const { body, status } = await client.request('GET', path, { signal, accept: isFirst ? [] : [400, 404] })
    const page = parseDevicePage(body)
    if (page === undefined && status < 400) throw wrongShape(client)
    if (page === undefined || (page.next !== null && cursors.has(page.next))) return nodes
    nodes.push(...page.nodes)
    if (page.next === null || cursors.size >= maxPages) return nodes
    cursors.add(page.next)
    path = `${devicesPath}?after=${encodeURIComponent(page.next)}`
  }
}

/** None where the device refuses to say. */
export async function listAudioChannels(
  client: UpstreamClient,
  node: DeviceNode,
  signal?: AbortSignal,
): Promise<AudioChannel[]> {
  return parseAudioChannels(await readOptional(client, `${pathOf(node)}/audio-channels`, signal))
}

/** The body of a resource; null or undefined where the device has none, or refuses to say. */
export function readResource(
  client: UpstreamClient,
  node: DeviceNode,
  { path }: Resource,
  signal?: AbortSignal,
): Promise<unknown> {
  return readOptional(client, `${pathOf(node)}/${path}`, signal)
}

/**
 * Of devices coming and going, or of one resource of a device. False where the device lacks it, or the server will not
 * watch it now.
 */
export async function subscribeTo(
  client: UpstreamClient,
  about: { readonly transport: string; readonly of?: { readonly node: DeviceNode; readonly resource: Resource } },
  signal: AbortSignal,
): Promise<boolean> {
  const subject = about.of === undefined ? devicesPath : `${pathOf(about.of.node)}/${about.of.resource.path}`
  const path = `${subject}/subscription/${encodeURIComponent(about.transport)}`
  // Without a body, and so without its type: the server refuses one that claims to be JSON and is empty.
  const { status } = await client.request('POST', path, { signal, accept: [404, 405, 409, 500] })
  return status < 400
}

function pathOf({ deviceId }: DeviceNode): string {
  return `${devicesPath}/${encodeURIComponent(deviceId)}`
}

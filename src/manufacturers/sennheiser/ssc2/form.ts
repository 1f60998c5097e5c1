/** A device that speaks SSC 2 for itself: its identity is its list, its resources are read one by one or subscribed. */

import type { DeviceReport } from '../../../model/receiver.ts'
import type { UpstreamClient } from '../../../upstream/client.ts'
import { resolveDestination } from '../../../upstream/destinations.ts'
import { ApiError } from '../../../upstream/errors.ts'
import { isRecord } from '../../../upstream/fields.ts'
import { defineAdapter, type UpstreamDevice } from '../../plugin.ts'
import type { Partner } from '../dialogue.ts'
import { firmwarePath, identityPath, type Resources, sitePath, takeResource } from './resources.ts'
import { subscribe } from './session.ts'
import { familyOfDevice, idOf, idPrefix, toObservation } from './translate.ts'

interface Ssc2Device extends UpstreamDevice {
  readonly partner: Partner
  readonly known: Resources
}

export const ssc2 = defineAdapter<Ssc2Device>({
  async listDevices(client, signal) {
    return { devices: [await readDevice(client, signal)], malformed: 0 }
  },
  partsOf: ({ known }) => ['identity', ...(familyOfDevice(known)?.paths ?? [])],
  async readPart(client, device, part, signal) {
    const known = new Map(device.known)
    for (const path of part === 'identity' ? [firmwarePath] : [part]) {
      takeResource(known, path, await readResource(client, path, signal))
    }
    return { ...device, known }
  },
  hasIdentity: ({ known }) => known.has(firmwarePath),
  withEarlierIdentity(listed, { known }) {
    const earlier = [identityPath, sitePath, firmwarePath].flatMap((path) => (known.has(path) ? [path] : []))
    const kept = new Map(earlier.map((path) => [path, known.get(path)]))
    return { ...listed, known: new Map([...kept, ...listed.known]) }
  },
  isSameIdentity: (listed, { known }) =>
    [identityPath, sitePath].every(
      (path) => JSON.stringify(listed.known.get(path)) === JSON.stringify(known.get(path)),
    ),
  transformDeviceData: ({ known, partner }) => ({
    ...toObservation(known, partner),
    metadata: Object.fromEntries(known),
  }),

  transport: 'sse',
  pushesEverything: true,
  async *subscribe(client, _interest, signal) {
    yield* subscribe(client, await readDevice(client, signal), signal)
  },
  // The device's own word, before that of a system, and in its newer protocol.
  precedence: 2,
  idPrefix,
})

/** Everybody may ask a device who it is, whatever the password. */
export async function isSsc2(client: UpstreamClient, signal?: AbortSignal): Promise<boolean> {
  const answer = client.request('GET', identityPath, { signal })
  const identity = await answer.then(({ body }) => body).catch(() => signal?.throwIfAborted())
  return isRecord(identity) && typeof identity.product === 'string'
}

/** Who it is, without a password; throws where it is no such device. */
export async function meetSsc2(client: UpstreamClient, signal?: AbortSignal): Promise<DeviceReport> {
  const { known, partner } = await readIdentity(client, signal)
  return toObservation(known, partner)
}

/**
 * Who it is, and that it lets us in: everybody may ask for the first, only those with the right password for the second.
 */
async function readDevice(client: UpstreamClient, signal?: AbortSignal): Promise<Ssc2Device> {
  const { known, partner } = await readIdentity(client, signal)
  takeResource(known, sitePath, await ask(client, sitePath, [404], signal))
  return { id: idOf(known, partner), partner, known }
}

async function readIdentity(client: UpstreamClient, signal?: AbortSignal) {
  const known = new Map<string, unknown>()
  const identity = await ask(client, identityPath, [], signal)
  if (!isRecord(identity))
    throw new client.errors.ApiError(`invalid response from ${hostOf(client)}: not a device's identity`, {
      status: 200,
    })
  takeResource(known, identityPath, identity)
  const url = new URL(client.settings.baseUrl)
  const { address } = await resolveDestination(client.destinations, url)
  const partner: Partner = { host: url.host, ip: address, name: client.settings.name ?? null }
  return { known, partner }
}

/** Null where it is not there, or not now: a transmitter that is not linked. */
async function readResource(client: UpstreamClient, path: string, signal?: AbortSignal): Promise<unknown> {
  return (await ask(client, path, [404, 422], signal)) ?? null
}

async function ask(
  client: UpstreamClient,
  path: string,
  accept: readonly number[],
  signal?: AbortSignal,
): Promise<unknown> {
  try {
    return (await client.request('GET', path, { accept, signal })).body
  } catch (error) {
    throw noteRefusal(client, error)
  }
}

/** These devices lock their door for good after some wrong passwords: after one nothing more is asked. */
export function noteRefusal(client: UpstreamClient, error: unknown): unknown {
  if (!(error instanceof ApiError) || error.status !== 401) return error
  const { status, response } = error
  const message = `${error.message}; it is not asked again before they are changed, because it locks itself after a few wrong ones`
  const refusal = new client.errors.ApiError(message, { status, response, cause: error })
  client.block(refusal)
  return refusal
}

function hostOf({ settings: { baseUrl } }: UpstreamClient): string {
  return new URL(baseUrl).host
}

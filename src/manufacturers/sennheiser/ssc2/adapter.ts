/** Monitors an individual SSC 2 device. Its device list has one entry; its resources are polled or subscribed to. */

import type { DeviceReport } from '../../../domain/equipment/receiver.ts'
import { isRecord } from '../../../domain/json.ts'
import type { UpstreamClient } from '../../../upstream/client.ts'
import { resolveDestination } from '../../../upstream/destinations.ts'
import { ApiError } from '../../../upstream/errors.ts'
import { createMisfits } from '../../../upstream/field-table.ts'
import { defineAdapter, type UpstreamDevice } from '../../plugin.ts'
import type { DeviceEndpoint } from '../datagram-session.ts'
import { levelsOfType } from './families.ts'
import {
  applyResource,
  earlierPathOf,
  firmwarePath,
  identityPath,
  isOfTransmitter,
  listFields,
  type Resources,
  sitePath,
} from './resources.ts'
import { deviceIdOf, familyOfDevice, idPrefix, productOf, subscribe, toDeviceReport } from './session.ts'
import { signIn } from './sign-in.ts'

interface Ssc2Device extends UpstreamDevice {
  readonly endpoint: DeviceEndpoint
  readonly resources: Resources
  /** Refused path -> status. */
  readonly refused: ReadonlyMap<string, string>
}

export const ssc2 = defineAdapter<Ssc2Device>({
  protocol: 'ssc2',
  async listDevices(client, signal) {
    return { devices: [await readDevice(client, signal)], malformed: 0 }
  },
  partsOf: ({ resources }) => ['identity', ...(familyOfDevice(resources)?.paths ?? [])],
  async readPart(client, device, part, signal) {
    const resources = new Map(device.resources)
    const refused = new Map(device.refused)
    const path = part === 'identity' ? firmwarePath : part
    const get = (from: string) => client.request('GET', from, { accept: refusals, signal })
    const response = await get(path)
    const earlier = earlierPathOf(path)
    const { status, body } = response.status < 400 || earlier === undefined ? response : await get(earlier)
    if (status < 400) refused.delete(path)
    else if (!isOfTransmitter(path)) refused.set(path, `status ${status}`)
    applyResource(resources, path, status < 400 ? (body ?? null) : null)
    return { ...device, resources, refused }
  },
  hasIdentity: ({ resources }) => resources.has(firmwarePath),
  withEarlierIdentity(listed, { resources, refused }) {
    const identityPaths = [identityPath, sitePath, firmwarePath].flatMap((path) => (resources.has(path) ? [path] : []))
    const identity = new Map(identityPaths.map((path) => [path, resources.get(path)]))
    return { ...listed, resources: new Map([...identity, ...listed.resources]), refused }
  },
  isSameIdentity: (listed, { resources }) =>
    [identityPath, sitePath].every(
      (path) => JSON.stringify(listed.resources.get(path)) === JSON.stringify(resources.get(path)),
    ),
  transformDeviceData: ({ resources, endpoint }) => ({
    ...toDeviceReport(resources, endpoint),
    metadata: Object.fromEntries(resources),
  }),

  problemsOf({ resources, refused, endpoint }) {
    const misfits = createMisfits(endpoint.host, familyOfDevice(resources)?.fields)
    for (const [path, body] of resources) misfits.check(listFields(path, body))
    misfits.setRefused(refused)
    return misfits.list()
  },

  levels: levelsOfType,
  transport: 'sse',
  pushesEverything: true,
  async *subscribe(client, _targets, signal, _onLevels, onProblems) {
    yield* subscribe(client, await readDevice(client, signal), signal, onProblems)
  },
  lights: {
    areIn: () => true,
    async flash(client, { isOn }, signal) {
      const path = '/api/device/identification'
      const { status } = await client.request('PUT', path, { body: { visual: isOn }, signal, accept: [404, 405, 501] })
      return status < 400 ? { channel: null } : null
    },
  },
  // SSC 2 reports take precedence over reports of a system and of SSC 1, the older protocol.
  precedence: 2,
  idPrefix,
})

/**
 * Returns the product of an SSC 2 device, which requires no password; null if the address belongs to another device.
 */
export async function findProduct(client: UpstreamClient, signal?: AbortSignal): Promise<string | null> {
  const response = client.request('GET', identityPath, { signal })
  const identity = await response.then(({ body }) => body).catch(() => signal?.throwIfAborted())
  return isRecord(identity) && typeof identity.product === 'string' ? identity.product : null
}

/** Reads the identity without a password. Throws if the address does not belong to an SSC 2 device. */
export async function identifySsc2(client: UpstreamClient, signal?: AbortSignal): Promise<DeviceReport> {
  const { resources, endpoint } = await readIdentity(client, signal)
  return toDeviceReport(resources, endpoint)
}

/** Reads the identity, which requires no password, and the site, which verifies the password. */
async function readDevice(client: UpstreamClient, signal?: AbortSignal): Promise<Ssc2Device> {
  const { resources, endpoint } = await readIdentity(client, signal)
  const readSite = () => getBody(client, sitePath, refusals, signal)
  applyResource(resources, sitePath, await signIn(client, productOf(resources), readSite))
  return { id: deviceIdOf(resources, endpoint), endpoint, resources, refused: new Map() }
}

async function readIdentity(client: UpstreamClient, signal?: AbortSignal) {
  const resources = new Map<string, unknown>()
  const identity = await getIdentity(client, signal)
  if (!isRecord(identity)) {
    const message = `invalid response from ${hostOf(client)}: expected an object that identifies the device`
    throw new client.errors.ApiError(message, { status: 200 })
  }
  applyResource(resources, identityPath, identity)
  const url = new URL(client.settings.baseUrl)
  const { address } = await resolveDestination(client.destinations, url)
  const endpoint: DeviceEndpoint = { host: url.host, ip: address, name: client.settings.name ?? null }
  return { resources, endpoint }
}

/** The resource does not exist, or is unavailable, for example without a linked transmitter. */
const refusals = [400, 404, 405, 422, 501]

const refusedAdvice = 'on an EW-DX, allow third-party access in Control Cockpit'

async function getBody(
  client: UpstreamClient,
  path: string,
  accept: readonly number[],
  signal?: AbortSignal,
): Promise<unknown> {
  return (await client.request('GET', path, { accept, signal, refusedAdvice })).body
}

/** Reads the identity without credentials. A system may require them even for an address that it does not have. */
async function getIdentity(client: UpstreamClient, signal?: AbortSignal): Promise<unknown> {
  try {
    return await getBody(client, identityPath, [], signal)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401 || error === client.blockReason) throw error
    return await signIn(client, '', () => getBody(client, identityPath, [], signal))
  }
}

function hostOf({ settings: { baseUrl } }: UpstreamClient): string {
  return new URL(baseUrl).host
}

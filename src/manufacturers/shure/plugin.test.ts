import { afterEach, describe, expect, test } from 'vitest'
import { type ShureSimulatorOptions, startShureSimulator } from '../../../simulators/shure/device-api.ts'
import { describePlugin } from '../../../test/support/plugins/plugin-kit.ts'
import { createUpstreamClient } from '../../upstream/client.ts'
import { shure } from './index.ts'
import { addDiscoveryIps, getDiscoveryIps, removeDiscoveryIps, system } from './system.ts'

describePlugin({
  plugin: shure,
  startSimulator: startShureSimulator,
  fixtures: new URL('./fixtures/', import.meta.url),
})

const resources: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of resources.splice(0).toReversed()) await resource.close()
})

async function startWithClient(options: ShureSimulatorOptions = {}, config: Record<string, unknown> = {}) {
  const simulator = await startShureSimulator({ pushesPerSecond: 0, receivers: 1, ...options })
  resources.push(simulator)
  const [settings] = shure.listSources({ ...simulator.config, ...config })
  if (settings === undefined) throw new Error('The configuration names no source.')
  const client = createUpstreamClient({ settings, errors: shure.errors })
  resources.push(client)
  return { simulator, client }
}

describe('discovery addresses', () => {
  const path = '/api/v1/config/discovery/ips'

  // Conformance: S-4.23, C-3.10.
  test('addDiscoveryIps merges the addresses, and sends no request when all are present', async () => {
    const { simulator, client } = await startWithClient()
    expect(await getDiscoveryIps(client)).toEqual([])
    await addDiscoveryIps(client, ['10.0.0.1', '10.0.0.2'])
    await addDiscoveryIps(client, ['10.0.0.2', '10.0.0.3', '10.0.0.3'])
    expect(simulator.discoveryIps).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3'])
    await addDiscoveryIps(client, ['10.0.0.1'])
    expect(simulator.requests.count(path, 'PUT')).toBe(2)
  })

  // Conformance: S-4.23, C-3.10.
  test('removeDiscoveryIps falls back from PATCH to POST, whatever the error response contains', async () => {
    const { simulator, client } = await startWithClient()
    await addDiscoveryIps(client, ['10.0.0.1', '10.0.0.2'])
    await removeDiscoveryIps(client, ['10.0.0.1'])
    expect(simulator.discoveryIps).toEqual(['10.0.0.2'])
    expect(simulator.requests.count(`${path}/remove`, 'POST')).toBe(0)

    const { simulator: older, client: toOlder } = await startWithClient({ refusePatch: true })
    await addDiscoveryIps(toOlder, ['10.0.0.1', '10.0.0.2'])
    const body = '<h1>Not allowed</h1>'
    older.setFault({ type: 'status', status: 405, body }, { path: '/remove', times: 1 })
    await removeDiscoveryIps(toOlder, ['10.0.0.2'])
    expect(older.discoveryIps).toEqual(['10.0.0.1'])
    expect(older.requests.count(`${path}/remove`, 'POST')).toBe(1)
  })

  test('a malformed response throws an ApiError', async () => {
    const { simulator, client } = await startWithClient()
    simulator.setFault({ type: 'wrong-shape' })
    await expect(addDiscoveryIps(client, ['10.0.0.1'])).rejects.toBeInstanceOf(shure.errors.ApiError)
    expect(simulator.requests.count(path, 'PUT')).toBe(0)
  })
})

// Conformance: S-5.2.
test('sends the vendor key when the configuration enables it', async () => {
  const { client } = await startWithClient({ demandVendorKey: true })
  await expect(system.listDevices(client)).resolves.toBeDefined()
  const { client: without } = await startWithClient({ demandVendorKey: true }, { auth_header: false })
  await expect(system.listDevices(without)).rejects.toMatchObject({ status: 401 })
})

describe('the WebSocket', () => {
  const noTargets = { ids: () => [], changed: () => new Promise<void>(() => {}) }
  const next = async (client: Parameters<typeof startSubscription>[0]) => (await startSubscription(client).next()).value
  const stop = new AbortController()
  const startSubscription = (client: ReturnType<typeof createUpstreamClient>) => {
    const events = system.subscribe?.(client, noTargets, stop.signal)
    if (events === undefined) throw new Error('The adapter has no subscribe function.')
    return events[Symbol.asyncIterator]()
  }

  // Conformance: S-2.25.
  test('uses the configured address, or one derived from the base URL', async () => {
    const { simulator } = await startWithClient()
    const { client } = await startWithClient(
      {},
      { websocket_url: `${simulator.baseUrl.replace('http', 'ws')}/api/v1/ws` },
    )
    expect(await next(client)).toEqual({ type: 'open' })
    expect(simulator.push.connections).toBe(1)
  })

  // Conformance: C-3.15.
  test('reuses a nonce from polling', async () => {
    const { simulator, client } = await startWithClient()
    await system.listDevices(client)
    const { total } = simulator.requests
    await next(client)
    expect(simulator.requests.total - total).toBe(1)
  })
})

import { afterEach, describe, expect, test } from 'vitest'
import { describePlugin } from '../../../test/plugin-kit.ts'
import { createUpstreamClient } from '../../upstream/client.ts'
import { addDiscoveryIps, getDiscoveryIps, removeDiscoveryIps } from './discovery.ts'
import { shure } from './index.ts'
import { type ShureSimulatorOptions, startShureSimulator } from './simulator.ts'
import { system } from './system.ts'

describePlugin({
  plugin: shure,
  startSimulator: startShureSimulator,
  fixtures: new URL('./fixtures/', import.meta.url),
})

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

async function startWithLink(options: ShureSimulatorOptions = {}, config: Record<string, unknown> = {}) {
  const simulator = await startShureSimulator({ pushesPerSecond: 0, receivers: 1, ...options })
  open.push(simulator)
  const [settings] = shure.listSources({ ...simulator.config, ...config })
  if (settings === undefined) throw new Error('no source')
  const client = createUpstreamClient({ settings, errors: shure.errors })
  open.push(client)
  return { simulator, link: client }
}

describe('discovery addresses', () => {
  const path = '/api/v1/config/discovery/ips'

  // Conformance: S-4.23, C-3.10.
  test('what is added joins what is there; nothing new, nothing is put', async () => {
    const { simulator, link: client } = await startWithLink()
    expect(await getDiscoveryIps(client)).toEqual([])
    await addDiscoveryIps(client, ['10.0.0.1', '10.0.0.2'])
    await addDiscoveryIps(client, ['10.0.0.2', '10.0.0.3', '10.0.0.3'])
    expect(simulator.discoveryIps).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3'])
    await addDiscoveryIps(client, ['10.0.0.1'])
    expect(simulator.requests.count(path, 'PUT')).toBe(2)
  })

  // Conformance: S-4.23, C-3.10.
  test('are removed by PATCH, and by POST where that is refused, whatever page the refusal carries', async () => {
    const { simulator, link: client } = await startWithLink()
    await addDiscoveryIps(client, ['10.0.0.1', '10.0.0.2'])
    await removeDiscoveryIps(client, ['10.0.0.1'])
    expect(simulator.discoveryIps).toEqual(['10.0.0.2'])
    expect(simulator.requests.count(`${path}/remove`, 'POST')).toBe(0)

    const { simulator: older, link: toOlder } = await startWithLink({ refusePatch: true })
    await addDiscoveryIps(toOlder, ['10.0.0.1', '10.0.0.2'])
    const body = '<h1>Not allowed</h1>'
    older.setFault({ type: 'status', status: 405, body }, { path: '/remove', times: 1 })
    await removeDiscoveryIps(toOlder, ['10.0.0.2'])
    expect(older.discoveryIps).toEqual(['10.0.0.1'])
    expect(older.requests.count(`${path}/remove`, 'POST')).toBe(1)
  })

  test('an answer of another shape is its ApiError', async () => {
    const { simulator, link: client } = await startWithLink()
    simulator.setFault({ type: 'wrong-shape' })
    await expect(addDiscoveryIps(client, ['10.0.0.1'])).rejects.toBeInstanceOf(shure.errors.ApiError)
    expect(simulator.requests.count(path, 'PUT')).toBe(0)
  })
})

// Conformance: S-5.2.
test('the vendor key goes along when the configuration says so', async () => {
  const { link: client } = await startWithLink({ demandVendorKey: true })
  await expect(system.listDevices(client)).resolves.toBeDefined()
  const { link: without } = await startWithLink({ demandVendorKey: true }, { auth_header: false })
  await expect(system.listDevices(without)).rejects.toMatchObject({ status: 401 })
})

describe('the WebSocket', () => {
  const nobody = { ids: () => [], changed: () => new Promise<void>(() => {}) }
  const next = async (client: Parameters<typeof startSubscription>[0]) => (await startSubscription(client).next()).value
  const stop = new AbortController()
  const startSubscription = (client: ReturnType<typeof createUpstreamClient>) => {
    const events = system.subscribe?.(client, nobody, stop.signal)
    if (events === undefined) throw new Error('it cannot subscribe')
    return events[Symbol.asyncIterator]()
  }

  // Conformance: S-2.25.
  test('is where the configuration says, else derived', async () => {
    const { simulator } = await startWithLink()
    const { link: client } = await startWithLink(
      {},
      { websocket_url: `${simulator.baseUrl.replace('http', 'ws')}/api/v1/ws` },
    )
    expect(await next(client)).toEqual({ type: 'open' })
    expect(simulator.push.links).toBe(1)
  })

  // Conformance: C-3.15.
  test('a nonce learned by polling serves it too', async () => {
    const { simulator, link: client } = await startWithLink()
    await system.listDevices(client)
    const { total } = simulator.requests
    await next(client)
    expect(simulator.requests.total - total).toBe(1)
  })
})

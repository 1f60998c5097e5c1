import { afterEach, expect, test } from 'vitest'
import { serveHttp } from '../../test/support/plugins/plugin-kit-server.ts'
import { createUpstreamClient } from '../upstream/client.ts'
import { createDestinations, type Destinations } from '../upstream/destinations.ts'
import { deviceApi } from '../upstream/device-api.ts'
import { toDeviceReport } from '../upstream/device-report.ts'
import { getPlugin } from './index.ts'
import { type DeviceList, defineAdapter, type ProtocolAdapter, type ProtocolDetector } from './plugin.ts'
import { findConfigError, openSource } from './sources.ts'

const resources: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of resources.splice(0).toReversed()) await resource.close()
})

const shure = getPlugin('shure')
const systemAdapter = defineAdapter({
  protocol: 'system',
  ...deviceApi,
  transformDeviceData: (device) => toDeviceReport(device, () => undefined),
})
const otherAdapter: ProtocolAdapter = {
  ...systemAdapter,
  async listDevices(client) {
    const { body } = await client.request('GET', '/other')
    return body as DeviceList<{ id: string }>
  },
}

/** Starts a system whose protocol may change, and records the paths that are requested. */
async function startSystem(protocol: { adapter: ProtocolAdapter }) {
  const paths: (string | undefined)[] = []
  const server = await serveHttp({
    onRequest({ url }, response) {
      paths.push(url)
      const isSupported = (url === '/other') === (protocol.adapter === otherAdapter)
      response.statusCode = isSupported ? 200 : 404
      response.end(JSON.stringify({ devices: [{ id: 'a', device_id: 'a' }], malformed: 0 }))
    },
  })
  resources.push(server)
  return { url: server.url, paths }
}

function createSource(baseUrl: string, adapter: ProtocolAdapter | ProtocolDetector) {
  const [first] = shure.listSources({ api_base_url: baseUrl })
  if (first === undefined) throw new Error('The configuration names no source.')
  const settings = { ...first, adapter }
  const client = createUpstreamClient({ settings, errors: shure.errors })
  resources.push(client)
  return openSource({ id: 'shure:x', manufacturer: 'shure', plugin: shure, settings, client })
}

/** Chooses the other adapter after a 404. */
const detector: ProtocolDetector = {
  default: systemAdapter,
  detect: async (_, { assumed, error }) =>
    error.status !== 404 ? null : assumed === systemAdapter ? otherAdapter : systemAdapter,
}

test('uses the default adapter without an extra request, and detects another adapter once', async () => {
  const standard = await startSystem({ adapter: systemAdapter })
  const source = createSource(standard.url, detector)
  await source.listDevices()
  expect(source.adapter).toBe(systemAdapter)
  expect(standard.paths).toEqual(['/api/v1/devices'])

  const nonStandard = await startSystem({ adapter: otherAdapter })
  const found = createSource(nonStandard.url, detector)
  expect(await found.checkHealth()).toEqual({ status: 'healthy', error: null })
  expect(await found.findAdapter()).toBe(otherAdapter)
  expect((await found.listDevices()).devices).toHaveLength(1)
  expect(nonStandard.paths).toEqual(['/api/v1/devices', '/other', '/other'])
})

test('detects the adapter again when a system changes its protocol', async () => {
  const protocol = { adapter: systemAdapter }
  const { url } = await startSystem(protocol)
  const source = createSource(url, detector)
  await source.listDevices()
  protocol.adapter = otherAdapter
  await source.listDevices()
  expect(source.adapter).toBe(otherAdapter)
  protocol.adapter = systemAdapter
  await source.listDevices()
  expect(source.adapter).toBe(systemAdapter)
})

test('throws the original error when no adapter fits', async () => {
  const { url } = await startSystem({ adapter: otherAdapter })
  const source = createSource(url, { default: systemAdapter, detect: async () => null })
  await expect(source.listDevices()).rejects.toMatchObject({ status: 404 })
  expect(await source.checkHealth()).toMatchObject({ status: 'unhealthy' })
  await expect(createSource(url, systemAdapter).findAdapter()).resolves.toBe(systemAdapter)
})

test('findConfigError resolves all device names in parallel and names the refused device', async () => {
  const pending: string[] = []
  let resolveNames = () => {}
  const namesResolved = new Promise<void>((resolve) => {
    resolveNames = resolve
  })
  const destinations: Destinations = {
    ...createDestinations(),
    async resolve(hostname) {
      pending.push(hostname)
      await namesResolved
      return [{ address: hostname === 'c' ? '169.254.169.254' : '10.0.0.1', family: 4 }]
    },
  }
  const devices = ['http://a', 'http://b', 'http://c']
  const error = findConfigError({ code: 'shure', plugin: 'shure', config: { devices } }, destinations)
  expect(pending).toEqual(['a', 'b', 'c'])
  resolveNames()
  expect(await error).toMatch(/sends no requests to c$/)
})

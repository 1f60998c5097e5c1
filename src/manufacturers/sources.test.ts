import { afterEach, expect, test } from 'vitest'
import { serveHttp } from '../../test/plugin-kit-server.ts'
import { createUpstreamClient } from '../upstream/client.ts'
import { createDestinations, type Destinations } from '../upstream/destinations.ts'
import { deviceApi, toDeviceReport } from '../upstream/device-api.ts'
import { getPlugin } from './index.ts'
import { type DeviceList, defineAdapter, type ProtocolAdapter, type ProtocolDetector } from './plugin.ts'
import { findConfigError, openSource } from './sources.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

const shure = getPlugin('shure')
const system = defineAdapter({ ...deviceApi, transformDeviceData: (device) => toDeviceReport(device, () => undefined) })
const other: ProtocolAdapter = {
  ...system,
  async listDevices(client) {
    const { body } = await client.request('GET', '/other')
    return body as DeviceList<{ id: string }>
  },
}

/** A system whose form may change, and the paths it was asked for. */
async function startSystem(speaks: { form: ProtocolAdapter }) {
  const paths: (string | undefined)[] = []
  const server = await serveHttp({
    onRequest({ url }, response) {
      paths.push(url)
      const isSpoken = (url === '/other') === (speaks.form === other)
      response.statusCode = isSpoken ? 200 : 404
      response.end(JSON.stringify({ devices: [{ id: 'a', device_id: 'a' }], malformed: 0 }))
    },
  })
  open.push(server)
  return { url: server.url, paths }
}

function hear(baseUrl: string, form: ProtocolAdapter | ProtocolDetector) {
  const [first] = shure.listSources({ api_base_url: baseUrl })
  if (first === undefined) throw new Error('no source')
  const settings = { ...first, form }
  const client = createUpstreamClient({ settings, errors: shure.errors })
  open.push(client)
  return openSource({ id: 'shure:x', manufacturer: 'shure', plugin: shure, settings, client })
}

/** Another form may be met where the one assumed is not known. */
const choice: ProtocolDetector = {
  default: system,
  detect: async (_, { assumed, error }) => (error.status !== 404 ? null : assumed === system ? other : system),
}

test('the usual form costs no request more, another one is found out once and kept', async () => {
  const usual = await startSystem({ form: system })
  const source = hear(usual.url, choice)
  await source.listDevices()
  expect(source.adapter).toBe(system)
  expect(usual.paths).toEqual(['/api/v1/devices'])

  const unusual = await startSystem({ form: other })
  const found = hear(unusual.url, choice)
  expect(await found.checkHealth()).toEqual({ status: 'healthy', error: null })
  expect(await found.findAdapter()).toBe(other)
  expect((await found.listDevices()).devices).toHaveLength(1)
  expect(unusual.paths).toEqual(['/api/v1/devices', '/other', '/other'])
})

test('a system that comes back speaking otherwise is understood again', async () => {
  const speaks = { form: system }
  const { url } = await startSystem(speaks)
  const source = hear(url, choice)
  await source.listDevices()
  speaks.form = other
  await source.listDevices()
  expect(source.adapter).toBe(other)
  speaks.form = system
  await source.listDevices()
  expect(source.adapter).toBe(system)
})

test('what no form explains is the trouble it was', async () => {
  const { url } = await startSystem({ form: other })
  const source = hear(url, { default: system, detect: async () => null })
  await expect(source.listDevices()).rejects.toMatchObject({ status: 404 })
  expect(await source.checkHealth()).toMatchObject({ status: 'unhealthy' })
  await expect(hear(url, system).findAdapter()).resolves.toBe(system)
})

test('the names of all devices are resolved at the same time, and the one that is refused is named', async () => {
  const waiting: string[] = []
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const destinations: Destinations = {
    ...createDestinations(),
    async resolve(hostname) {
      waiting.push(hostname)
      await answered
      return [{ address: hostname === 'c' ? '169.254.169.254' : '10.0.0.1', family: 4 }]
    },
  }
  const devices = ['http://a', 'http://b', 'http://c']
  const fault = findConfigError({ plugin: 'shure', config: { devices } }, destinations)
  expect(waiting).toEqual(['a', 'b', 'c'])
  answer()
  expect(await fault).toMatch(/nothing is sent to c$/)
})

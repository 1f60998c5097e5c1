import { afterEach, expect, test } from 'vitest'
import { serveHttp } from '../../test/plugin-kit-server.ts'
import { createDestinations, type Destinations } from '../upstream/destinations.ts'
import { deviceApi, toObservation } from '../upstream/device-api.ts'
import { createLink } from '../upstream/link.ts'
import { getPlugin } from './index.ts'
import { type DeviceList, defineForm, type Form, type FormChoice } from './plugin.ts'
import { findFault, hearSource } from './sources.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

const shure = getPlugin('shure')
const system = defineForm({ ...deviceApi, transformDeviceData: (device) => toObservation(device, () => undefined) })
const other: Form = {
  ...system,
  async listDevices(link) {
    const { body } = await link.request('GET', '/other')
    return body as DeviceList<{ id: string }>
  },
}

/** A system whose form may change, and the paths it was asked for. */
async function startSystem(speaks: { form: Form }) {
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

function hear(baseUrl: string, form: Form | FormChoice) {
  const [first] = shure.listSources({ api_base_url: baseUrl })
  if (first === undefined) throw new Error('no source')
  const source = { ...first, form }
  const link = createLink({ settings: source, errors: shure.errors })
  open.push(link)
  return hearSource({ id: 'shure:x', manufacturer: 'shure', plugin: shure, source, link })
}

/** Another form may be met where the one assumed is not known. */
const choice: FormChoice = {
  usual: system,
  detect: async (_, { assumed, trouble }) => (trouble.status !== 404 ? null : assumed === system ? other : system),
}

test('the usual form costs no request more, another one is found out once and kept', async () => {
  const usual = await startSystem({ form: system })
  const heard = hear(usual.url, choice)
  await heard.listDevices()
  expect(heard.form).toBe(system)
  expect(usual.paths).toEqual(['/api/v1/devices'])

  const unusual = await startSystem({ form: other })
  const found = hear(unusual.url, choice)
  expect(await found.checkHealth()).toEqual({ status: 'healthy', error: null })
  expect(await found.findForm()).toBe(other)
  expect((await found.listDevices()).devices).toHaveLength(1)
  expect(unusual.paths).toEqual(['/api/v1/devices', '/other', '/other'])
})

test('a system that comes back speaking otherwise is understood again', async () => {
  const speaks = { form: system }
  const { url } = await startSystem(speaks)
  const heard = hear(url, choice)
  await heard.listDevices()
  speaks.form = other
  await heard.listDevices()
  expect(heard.form).toBe(other)
  speaks.form = system
  await heard.listDevices()
  expect(heard.form).toBe(system)
})

test('what no form explains is the trouble it was', async () => {
  const { url } = await startSystem({ form: other })
  const heard = hear(url, { usual: system, detect: async () => null })
  await expect(heard.listDevices()).rejects.toMatchObject({ status: 404 })
  expect(await heard.checkHealth()).toMatchObject({ status: 'unhealthy' })
  await expect(hear(url, system).findForm()).resolves.toBe(system)
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
  const fault = findFault({ plugin: 'shure', config: { devices } }, destinations)
  expect(waiting).toEqual(['a', 'b', 'c'])
  answer()
  expect(await fault).toMatch(/nothing is sent to c$/)
})

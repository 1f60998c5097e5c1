import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { startAudioTechnicaSimulator } from '../../simulators/audio_technica/receivers.ts'
import { startDpaSimulator } from '../../simulators/dpa/ndr1.ts'
import { startLectrosonicsSimulator } from '../../simulators/lectrosonics/dsqd.ts'
import { startSsc1Simulator } from '../../simulators/sennheiser/ssc1.ts'
import { startSsc2Simulator } from '../../simulators/sennheiser/ssc2.ts'
import { startStringsSimulator } from '../../simulators/shure/strings.ts'
import { type SystemApiOptions, startSystemApiSimulator } from '../../simulators/shure/system-api.ts'
import { certify } from '../../test/support/certificates.ts'
import { onTestEnd } from '../../test/support/cleanup.ts'
import { eventually } from '../../test/support/eventually.ts'
import { startResponder } from '../../test/support/plugins/mdns-responder.ts'
import { serveHttp, serveLines } from '../../test/support/plugins/plugin-kit-server.ts'
import { attributeReply, shureAttributes, startBeacon } from '../../test/support/plugins/slp-beacon.ts'
import { timeLimit } from '../../test/support/time-limit.ts'
import { createDestinations } from '../upstream/destinations.ts'
import { audioTechnica } from './audio_technica/index.ts'
import { dpa } from './dpa/index.ts'
import { lectrosonics } from './lectrosonics/index.ts'
import type { DeviceSearch, Plugin } from './plugin.ts'
import { searchAddresses } from './search.ts'
import { sennheiser } from './sennheiser/index.ts'
import { shure } from './shure/index.ts'

const never = new AbortController().signal
const defaultOptions = {
  ips: ['127.0.0.1'],
  known: new Set<string>(),
  destinations: createDestinations(),
  signal: never,
  localAddresses: [{ interfaceName: 'lo', address: '127.0.0.1', cidr: '127.0.0.1/8' }],
}
const pluginWith = (search: DeviceSearch): Plugin => ({ ...lectrosonics, search })

async function startUnit() {
  const simulator = await startLectrosonicsSimulator({ receivers: 1, story: false })
  onTestEnd(() => simulator.close())
  return { simulator, port: Number(new URL(simulator.baseUrl).port) }
}

test('ends soon after an abort with what was found', async () => {
  const { simulator, port } = await startUnit()
  simulator.setFault({ type: 'hang' })
  const ips = Array.from({ length: 254 }, (_, index) => `127.0.0.${index + 1}`)
  const startedAt = performance.now()
  const signal = AbortSignal.timeout(300)
  expect(await searchAddresses(pluginWith({ ports: { 'tcp:': port } }), { ...defaultOptions, ips, signal })).toEqual([])
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(1_000))
})

test('starts the probes of concurrent searches at intervals', async () => {
  const ips = Array.from({ length: 50 }, (_, index) => `127.0.0.${index + 1}`)
  const startedAt = performance.now()
  const search = () => searchAddresses(pluginWith({ ports: { 'tcp:': 1 } }), { ...defaultOptions, ips })
  await Promise.all([search(), search(), search(), search()])
  expect(performance.now() - startedAt).toBeGreaterThan(390)
})

test.concurrent('finds a device at its default port with its identity', async () => {
  const { simulator, port } = await startUnit()
  const [state] = simulator.show.devicesAt(0)
  // Each host has half a second, so on a busy machine a search may find nothing.
  await eventually(() => searchAddresses(pluginWith({ ports: { 'tcp:': port } }), defaultOptions)).toEqual([
    {
      kind: 'device',
      address: `tcp://127.0.0.1:${port}`,
      ip: '127.0.0.1',
      id: `dsqd:${state?.device.serial_number}`,
      device_type: 'dsqd',
      model: 'DSQD',
      serial_number: state?.device.serial_number,
      mac_address: state?.device.mac_address,
      channels: 4,
      heard_on: ['lo'],
    },
  ])
})

// The search tests whether a host listens, with a separate connection, before it opens the session.
test.concurrent('finds receivers that accept only one session', async () => {
  const simulator = await startAudioTechnicaSimulator({ receivers: 1, story: false })
  onTestEnd(() => simulator.close())
  const plugin = { ...audioTechnica, search: { ports: { 'tcp:': Number(new URL(simulator.baseUrl).port) } } }
  await eventually(() => searchAddresses(plugin, defaultOptions)).toMatchObject([
    { id: expect.stringMatching(/^system20:/), device_type: 'system20', model: 'ATW-R1440', channels: 4 },
  ])
  const queries = simulator.requests.entries.map(({ path }) => path)
  expect(queries[0]).toBe('gmymodel O 0000 00 NC')
})

test.concurrent.each(['ulxd', 'ad', 'slxd', 'uhfr'] as const)('finds a Shure %s over its protocol', async (family) => {
  const device = await startStringsSimulator({ family })
  onTestEnd(() => device.close())
  const { protocol, port } = new URL(device.url)
  const plugin = { ...shure, search: { ports: { [protocol]: Number(port) } } }
  await eventually(() => searchAddresses(plugin, defaultOptions)).toMatchObject([
    { address: device.url, device_type: family, model: expect.any(String), channels: device.state.channels.length },
  ])
})

describe.concurrent('a Sennheiser device', () => {
  test('that requires a password is identified without one', async () => {
    const device = await startSsc2Simulator({ product: 'EWDX2CHS', serial: '1234500001' })
    onTestEnd(() => device.close())
    const { protocol, port } = new URL(device.url)
    const { identify } = sennheiser.search ?? {}
    const search = {
      ports: { [protocol]: Number(port) },
      identify: { [protocol]: identify?.['https:'] },
    } as DeviceSearch
    await eventually(() => searchAddresses({ ...sennheiser, search }, defaultOptions)).toMatchObject([
      { address: device.url, model: 'EW-DX EM 2', serial_number: '1234500001', device_type: 'ewdx' },
    ])
    expect([...new Set(device.requests)]).toEqual(['GET /api/device/identity'])
  })

  test.each([
    ['EM6000', 2, 'd6000'],
    ['SLDW', 1, 'slrack'],
    ['SLDW4CH', 4, 'slmcr'],
    ['CHG4N', 0, 'chg4n'],
  ] as const)(
    'that announces itself (%s) is found at its port with its model',
    async (model, channels, device_type) => {
      const device = await startSsc1Simulator({ model })
      onTestEnd(() => device.close())
      const responder = await startResponder([
        { type: '_ssc._udp', instance: model, ip: '127.0.0.1', port: Number(new URL(device.url).port) },
      ])
      onTestEnd(() => responder.close())
      const serviceGroup = responder.group
      const plugin = { ...sennheiser, search: { ...sennheiser.search, ports: {} } }
      await eventually(() => searchAddresses(plugin, { ...defaultOptions, serviceGroup })).toMatchObject([
        { address: device.url, model, channels, device_type },
      ])
    },
  )
})

describe.concurrent('a Shure System API server', () => {
  const searchFor = async (url: string, more: Partial<typeof defaultOptions> = {}) => {
    const { protocol, port } = new URL(url)
    const { identify } = shure.search?.systems?.['https:'] ?? {}
    if (identify === undefined) throw new Error('The plugin searches for no systems.')
    const systems = { [protocol]: { port: Number(port), identify } }
    return searchAddresses({ ...shure, search: { ports: {}, systems } }, { ...defaultOptions, ...more })
  }
  const startServer = async (options: SystemApiOptions = {}) => {
    const server = await startSystemApiSimulator({ receivers: 1, story: false, ...options })
    onTestEnd(() => server.close())
    return server
  }

  test.each([{}, { digest: true }])(
    'that requires credentials (%j) is identified by its challenge and receives none',
    async (options) => {
      const tls = await certify({ name: 'system-api.example' })
      const server = await startServer({ tls, ...options })
      await eventually(() => searchFor(server.baseUrl)).toEqual([
        {
          kind: 'system',
          address: server.baseUrl,
          ip: '127.0.0.1',
          id: `system-api:${new URL(server.baseUrl).host}`,
          device_type: 'system',
          model: 'System API',
          serial_number: null,
          mac_address: null,
          channels: 0,
          heard_on: ['lo'],
        },
      ])
      const { total } = server.requests
      expect([...new Set(server.requests.entries.map(({ refusal }) => refusal))]).toEqual(['no-credentials'])
      expect(await searchFor(server.baseUrl, { known: new Set([server.baseUrl]) })).toEqual([])
      expect(server.requests.total).toBe(total)
    },
  )

  test('without authentication is identified by its device list', async () => {
    const serve = (status: number, type: string, body: string) =>
      serveHttp({ onRequest: (_, response) => response.writeHead(status, { 'content-type': type }).end(body) })
    const find = async (...response: Parameters<typeof serve>) => {
      const server = await serve(...response)
      onTestEnd(() => server.close())
      return (await searchFor(server.url)).length
    }
    await eventually(() => find(200, 'application/json', '{"edges":[]}')).toBe(1)
    await eventually(() => find(403, 'application/problem+json', '{"status":403}')).toBe(1)
    // Other servers at the same port: an administration page, another API, an unknown server.
    expect(await find(401, 'text/html', '<h1>Sign in to Webmin</h1>')).toBe(0)
    expect(await find(200, 'text/html', '<h1>Welcome</h1>')).toBe(0)
    expect(await find(200, 'application/json', '{"devices":null}')).toBe(0)
    expect(await find(404, 'application/json', '{}')).toBe(0)
  })
})

test.concurrent('sends nothing to an address that is already monitored', async () => {
  const { simulator, port } = await startUnit()
  const known = new Set([simulator.baseUrl])
  expect(await searchAddresses(pluginWith({ ports: { 'tcp:': port } }), { ...defaultOptions, known })).toEqual([])
  expect(simulator.requests.total).toBe(0)
})

test.concurrent('finds nothing where a host uses another protocol, does not respond or does not exist', async () => {
  const { simulator, port } = await startUnit()
  const startedAt = performance.now()
  simulator.setFault({ type: 'hang' })
  expect(await searchAddresses(pluginWith({ ports: { 'tcp:': port } }), defaultOptions)).toEqual([])
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(5_000))
  const foreign = await serveLines({
    responses: {},
    requestEnd: '\r',
    responseEnd: '\r\n',
    defaultResponse: '200 HELLO',
  })
  onTestEnd(() => foreign.close())
  const ports = { 'tcp:': Number(new URL(foreign.url).port) }
  expect(await searchAddresses(pluginWith({ ports }), defaultOptions)).toEqual([])
  await simulator.close()
  expect(await searchAddresses(pluginWith({ ports: { 'tcp:': port } }), defaultOptions)).toEqual([])
})

describe.concurrent('a device that announces itself', () => {
  const services = { '_lectro._tcp': 'tcp:' }

  test('is found at its announced port if its address is requested', async () => {
    const { port } = await startUnit()
    const service = { type: '_lectro._tcp', instance: 'Rack', ip: '127.0.0.1', port }
    const responder = await startResponder([service, { ...service, instance: 'Elsewhere', ip: '127.0.0.2' }])
    onTestEnd(() => responder.close())
    const serviceGroup = responder.group
    const findAddresses = async () => {
      const found = await searchAddresses(pluginWith({ ports: {}, services }), { ...defaultOptions, serviceGroup })
      return found.map(({ address }) => address)
    }
    await eventually(findAddresses).toEqual([`tcp://127.0.0.1:${port}`])
  })

  test('is queried only once', async () => {
    const { simulator, port } = await startUnit()
    const responder = await startResponder([{ type: '_lectro._tcp', instance: 'Rack', ip: '127.0.0.1', port }])
    onTestEnd(() => responder.close())
    const serviceGroup = responder.group
    const plugin = pluginWith({ ports: { 'tcp:': port }, services })
    const search = async () => {
      const before = simulator.requests.count('!id?')
      const found = await searchAddresses(plugin, { ...defaultOptions, serviceGroup })
      return { found: found.length, queries: simulator.requests.count('!id?') - before }
    }
    await eventually(search).toEqual({ found: 1, queries: 1 })
  })
})

describe.concurrent('a Shure device that sends beacons', () => {
  /** Each test uses its own multicast group. */
  async function announce(port: number, ...datagrams: Buffer[]) {
    const group = { address: '239.255.254.253', port }
    const beacon = await startBeacon({ group, ip: '127.0.0.1', datagrams })
    onTestEnd(() => beacon.close())
    return { ...defaultOptions, beaconGroup: group }
  }

  test('and does not respond is found with its model, channels and address', async () => {
    const noise = [Buffer.from('hello'), attributeReply('(acn-fctn=AXT600)'), attributeReply('(acn-fctn=AD600)')]
    const options = await announce(28_427, ...noise, attributeReply(shureAttributes()))
    const elsewhere = searchAddresses(shure, { ...options, ips: ['127.0.0.2'] })
    const known = searchAddresses(shure, { ...options, known: new Set(['tcp://127.0.0.1:2202']) })
    expect(await searchAddresses(shure, options)).toEqual([
      {
        kind: 'device',
        address: 'tcp://127.0.0.1:2202',
        ip: '127.0.0.1',
        id: 'strings:00:0E:DD:47:E0:D7',
        device_type: 'qlxd',
        model: 'QLXD4 K51',
        serial_number: null,
        mac_address: '00:0E:DD:47:E0:D7',
        channels: 1,
        heard_on: ['lo'],
      },
    ])
    expect(await elsewhere).toEqual([])
    expect(await known).toEqual([])
  })

  test('and responds is found once, with the identity that it reports', async () => {
    const device = await startStringsSimulator({ family: 'ulxd' })
    onTestEnd(() => device.close())
    const { protocol, port } = new URL(device.url)
    const options = await announce(28_428, attributeReply(shureAttributes({ model: 'ULXD4Q' })))
    const plugin = { ...shure, search: { ...shure.search, ports: { [protocol]: Number(port) } } }
    await eventually(() => searchAddresses(plugin, options)).toMatchObject([
      { address: device.url, device_type: 'ulxd', model: 'ULXD4Q', channels: 4 },
    ])
  })

  test('is found even if the search is aborted when its beacon arrives', async () => {
    const options = await announce(28_429, attributeReply(shureAttributes()))
    const { search } = shure
    if (search?.beacon === undefined) throw new Error('The plugin has no beacon.')
    const { group, read } = search.beacon
    const stop = new AbortController()
    const beacon: typeof search.beacon = {
      group,
      read: (...datagram) => {
        stop.abort()
        return read(...datagram)
      },
    }
    const plugin = { ...shure, search: { ...search, beacon } }
    expect(await searchAddresses(plugin, { ...options, signal: stop.signal })).toMatchObject([
      { address: 'tcp://127.0.0.1:2202', model: 'QLXD4 K51' },
    ])
  })
})

test.concurrent('an ew G3 receiver that identifies itself on request is found with its model and MAC address', async () => {
  const group = { address: '224.0.0.251', port: 28_430 }
  const device = createSocket({ type: 'udp4', reuseAddr: true }).bind(group.port)
  onTestEnd(() => device.close())
  await once(device, 'listening')
  device.addMembership(group.address, '127.0.0.1')
  device.setMulticastInterface('127.0.0.1')
  const identity = Buffer.from('\x00\x25\x12\x06Model=EM500G3   ID=001B667ADE44   IPA=127.0.0.1', 'latin1')
  device.on('message', (request) => {
    if (request.includes('[servicecommand]devinfo')) device.send(identity, group.port, group.address)
  })
  const options = { ...defaultOptions, beaconGroup: group }
  const plugin = { ...sennheiser, search: { ...sennheiser.search, ports: {}, services: {} } }
  expect(await searchAddresses(plugin, options)).toMatchObject([
    { address: 'wsm://127.0.0.1:8133', model: 'EM 500 G3', mac_address: '00:1B:66:7A:DE:44', channels: 1 },
  ])
})

test.concurrent('a DPA receiver is found, with either kind of frames', async () => {
  for (const framing of ['length', 'slip'] as const) {
    const simulator = await startDpaSimulator({ framing, story: false })
    onTestEnd(() => simulator.close())
    const [address = ''] = simulator.urls
    const plugin = { ...dpa, search: { ports: { 'tcp:': Number(new URL(address).port) } } }
    await eventually(() => searchAddresses(plugin, defaultOptions)).toMatchObject([
      { address, device_type: 'ndr1', model: 'N-DR1', channels: 2 },
    ])
  }
})

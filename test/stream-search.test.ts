/** The search for streams of RAVENNA and NMOS, with devices that have bad manners. */

import { networkInterfaces } from 'node:os'
import { expect, it } from 'vitest'
import { type NmosRegistry, startNmosRegistry } from '../simulators/audio/nmos-registry.ts'
import { startRtspDevice } from '../simulators/audio/rtsp-device.ts'
import { StreamSearch, type StreamSearchOptions } from '../src/audio/stream-search.ts'
import type { Announcement } from '../src/audio/worker-messages.ts'
import { writeSdp } from '../src/domain/audio/sdp.ts'
import { createDestinations } from '../src/upstream/destinations.ts'
import { startApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { type AnnouncedService, startResponder } from './support/plugins/mdns-responder.ts'
import { tokenHeaders } from './support/tokens.ts'

const loopback = { interfaceName: 'lo', address: '127.0.0.1', cidr: '127.0.0.1/8' }

/** `number` becomes the session, the group and the name of the stream. */
function describe(number: number, labels: readonly string[] = []): string {
  return writeSdp({
    ...{ sessionId: String(number), version: 1, name: `Stagebox : ${number}`, origin: '127.0.0.1' },
    ...{ address: `239.70.0.${number}`, port: 5004, payload_type: 98 },
    ...{ encoding: 'L24', sample_rate: 48_000, channels: 2, labels },
  })
}

async function startDevice() {
  const device = await startRtspDevice()
  onTestEnd(() => device.close())
  return device
}

async function startRegistry(options: Parameters<typeof startNmosRegistry>[0] = {}): Promise<NmosRegistry> {
  const registry = await startNmosRegistry(options)
  onTestEnd(() => registry.close())
  return registry
}

async function search(options: Partial<StreamSearchOptions>, services: readonly AnnouncedService[] = []) {
  const responder = await startResponder(services)
  onTestEnd(() => responder.close())
  const announcements: Announcement[] = []
  const found = new StreamSearch({
    ...{ rtsp: [], nmos: [], destinations: createDestinations(), interfaces: () => [loopback] },
    onAnnouncement: (announcement) => void announcements.push(announcement),
    ...{ timeoutMs: 1500, everyMs: 100, group: responder.group },
    ...options,
  })
  const stopping = new AbortController()
  const running = found.run(stopping.signal)
  onTestEnd(async () => {
    stopping.abort()
    await running
  })
  const names = () => [
    ...new Set(announcements.flatMap((each) => ('streams' in each ? each.streams : [])).map(({ name }) => name)),
  ]
  return { announcements, names, problems: () => found.problems() }
}

// Conformance: C-27.110.
it('finds the sessions that RAVENNA devices announce, and those that are entered', async () => {
  const device = await startDevice()
  device.set('/by-name/FOH desk', { type: 'description', sdp: describe(1, ['Lead', 'Bass']) })
  device.set('/by-id/2', { type: 'description', sdp: describe(2) })
  device.set('/moved', { type: 'redirect', to: device.addressOf('/by-id/3') })
  device.set('/by-id/3', { type: 'description', sdp: describe(3) })
  const announced = { type: '_ravenna_session._sub._rtsp._tcp', ip: '127.0.0.1', port: device.port }
  const rtsp = [device.addressOf('/by-id/2'), device.addressOf('/moved')]
  const { announcements, names, problems } = await search({ rtsp }, [{ ...announced, instance: 'FOH desk' }])
  await until('all are found', () => names().length === 3)
  expect(names().sort()).toEqual(['Stagebox : 1', 'Stagebox : 2', 'Stagebox : 3'])
  expect(announcements).toContainEqual(
    expect.objectContaining({
      ...{ source: 'rtsp', sender: '127.0.0.1', interface: '127.0.0.1' },
      streams: [expect.objectContaining({ labels: ['Lead', 'Bass'], device: 'Stagebox' })],
    }),
  )
  expect(problems()).toEqual([])
})

// Conformance: C-27.111.
it('names devices with bad manners, and still finds the others', async () => {
  const device = await startDevice()
  const bad = {
    slow: /^No response from .* within 1\.5 s\.$/,
    trickle: /^No response from .* within 1\.5 s\.$/,
    closes: /closed the connection in the middle of its response\.$/,
    huge: /has more than 16 KiB\.$/,
    endless: /has more than 8 KiB\.$/,
    loop: /redirects more than 3 times\.$/,
    garbage: /does not respond with RTSP\.$/,
    resets: /the connection was closed before the response was complete\.$/,
  } as const
  for (const type of Object.keys(bad) as (keyof typeof bad)[]) device.set(`/${type}`, { type })
  device.set('/video', {
    type: 'description',
    sdp: 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=x\r\nm=video 5004 RTP/AVP 96\r\n',
  })
  device.set('/elsewhere', { type: 'redirect', to: 'http://127.0.0.1/' })
  device.set('/good', { type: 'description', sdp: describe(4) })
  const paths = [...Object.keys(bad), 'missing', 'video', 'elsewhere', 'good'].map((name) => `/${name}`)
  const refused = 'rtsp://169.254.169.254/by-name/x'
  const { names, problems } = await search({ rtsp: [...paths.map(device.addressOf), refused] })
  await until('all problems are named', () => problems().length === paths.length)
  expect(names()).toEqual(['Stagebox : 4'])
  const errorAt = (path: string) => problems().find(({ address }) => address.endsWith(path))?.error
  for (const [name, error] of Object.entries(bad)) expect(errorAt(`/${name}`)).toMatch(error)
  expect(errorAt('/missing')).toMatch(/responded to DESCRIBE with 404 Not Found\.$/)
  expect(errorAt('/video')).toBe('The description (SDP) cannot be used: there is no line m=audio.')
  expect(errorAt('/elsewhere')).toMatch(/^Expected an address that begins with rtsp:\/\//)
  expect(errorAt(refused)).toMatch(/^Nothing is sent to 169\.254\.169\.254/)
})

// Conformance: C-27.112.
it('finds senders of audio in a registry that is announced, page by page, with the labels of their sources', async () => {
  const registry = await startRegistry({ pageSize: 2 })
  registry.senders = [1, 2, 3, 4, 5].map((number) => ({
    ...{ id: `s${number}`, version: '1:0', label: `Sender ${number}`, sdp: describe(number) },
    ...(number === 2 && { channelLabels: ['Violin', 'Viola'] }),
    ...(number === 3 && { format: 'video' as const }),
    ...(number === 4 && { sdp: null }),
  }))
  const service = { type: '_nmos-query._tcp', instance: 'registry', ip: '127.0.0.1', port: registry.port }
  const { announcements, names, problems } = await search({}, [{ ...service, text: { api_proto: 'http' } }])
  await until('the senders are found', () => names().length === 3)
  expect(names().sort()).toEqual(['Stagebox : 1', 'Stagebox : 2', 'Stagebox : 5'])
  expect(JSON.stringify(announcements)).toContain('"labels":["Violin","Viola"]')
  expect(announcements[0]).toMatchObject({ source: 'nmos', sender: '127.0.0.1' })
  // Descriptions of senders that have not changed are not requested again.
  const count = announcements.length
  await until('another round has ended', () => announcements.length >= count + 6)
  expect(registry.manifests.filter((id) => id === 's1')).toEqual(['s1'])
  registry.senders = registry.senders.map((sender) => ({ ...sender, version: '2:0', sdp: describe(9) }))
  await until('the change is found', () => names().includes('Stagebox : 9'))
  expect(problems()).toEqual([])
})

// Conformance: C-27.113.
it('names registries and senders with bad manners, and still finds the others', async () => {
  const node = await startRegistry({ api: 'node', versions: ['v1.1'] })
  node.senders = (['slow', 'redirect', 'huge'] as const).map((manners) => {
    return { id: manners, version: '1:0', label: manners, sdp: describe(1), manners }
  })
  const local = { id: 'file', version: '1:0', label: 'File', sdp: '', manifest: 'file:///etc/passwd' }
  node.senders = [...node.senders, local, { id: 'good', version: '1:0', label: 'Good', sdp: describe(7) }]
  const old = await startRegistry({ versions: ['v0.9'] })
  const broken = await startRegistry()
  broken.body = '[[[['
  const deep = await startRegistry()
  deep.body = '['.repeat(100_000)
  const none = await startRegistry()
  none.body = '{"senders": 1}'
  const away = 'http://127.0.0.1:1'
  const nmos = [node.url, old.url, broken.url, deep.url, none.url, away]
  const { names, problems } = await search({ nmos })
  const errorAt = (address: string) => problems().find((problem) => problem.address === address)?.error
  await until('all problems are named', () => problems().length >= 9)
  expect(names()).toEqual(['Stagebox : 7'])
  expect(errorAt(`${node.url}/sdp/slow`)).toMatch(/^No response from/)
  expect(errorAt(`${node.url}/sdp/redirect`)).toBeDefined()
  expect(errorAt(`${node.url}/sdp/huge`)).toMatch(/larger than Micwatch accepts|16 KiB/)
  expect(errorAt(local.manifest)).toMatch(/^Expected an address that begins with http/)
  expect(errorAt(old.url)).toMatch(/offers no version of NMOS IS-04 that Micwatch knows\.$/)
  for (const { url } of [broken, deep]) expect(errorAt(url)).toMatch(/^Invalid response from/)
  expect(errorAt(none.url)).toMatch(/is no list\.$/)
  expect(errorAt(away)).toMatch(/^Connection refused by/)
})

// Conformance: C-27.114.
it('lists streams that are found in several ways once, and says where they are sought and what cannot be used', async () => {
  const device = await startDevice()
  device.set('/one', { type: 'description', sdp: describe(11) })
  const registry = await startRegistry()
  registry.senders = [{ id: 'a', version: '1:0', label: 'A', sdp: describe(11) }]
  registry.senders = [...registry.senders, { id: 'b', version: '1:0', label: 'B', sdp: describe(12) }]
  const rtsp = [device.addressOf('/one'), device.addressOf('/missing')]
  const app = await startApp({ config: { audio: { interfaces: ['127.0.0.1'], rtsp, nmos: [registry.url] } } })
  // Others may announce streams on this machine.
  const list = async () =>
    ((await app.get('/api/audio/streams/')).json as { name: string; source: string }[]).filter(
      ({ source }) => source !== 'sap',
    )
  await until('both are listed', async () => (await list()).length === 2)
  const streams = await list()
  expect(streams.map(({ name }) => name).sort()).toEqual(['Stagebox : 11', 'Stagebox : 12'])
  expect(streams).toContainEqual(expect.objectContaining({ source: 'nmos', name: 'Stagebox : 12', announced: true }))
  const read = async () => (await app.get('/api/audio/search/', await tokenHeaders(app, 'viewer'))).json
  const problems = async () => {
    const { problems } = await read()
    return problems.filter(({ source }: { source: string }) => source !== 'sap')
  }
  await until('the missing session is named', async () => (await problems()).length > 0)
  const [name = ''] = Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
    addresses?.some(({ address }) => address === '127.0.0.1') ? [name] : [],
  )
  expect(await read()).toMatchObject({
    ...{ listening: false, searching: true, most_found: 500 },
    interfaces: [{ name, address: '127.0.0.1' }],
  })
  expect(await problems()).toMatchObject([
    { source: 'rtsp', address: rtsp[1], count: 1, error: expect.stringContaining('404 Not Found') },
  ])
})

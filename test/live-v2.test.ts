/** The live interface, version 2: snapshot, messages, resumption, filters, acknowledgements and slow clients. */

import { connect } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { Check } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { LiveServerMessage } from '../src/contract/live-messages.ts'
import { configFor, deviceOf, startApp, startSennheiser, startShure, type TestApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { expectConsecutive, expectRising, openLive } from './support/live-client.ts'

async function startService(options: { receivers?: number; config?: object } = {}) {
  const { receivers = 2, config = {} } = options
  const shure = await startShure({ receivers })
  const app = await startApp({ manufacturers: [configFor(shure, config)] })
  await until('all receivers are known', async () => (await app.receivers()).length === receivers)
  await until('the subscription is connected', () => shure.push.connections > 0)
  return { shure, app }
}

/** Compares the client's copy with `data.json`, once the client has received everything. */
async function expectCurrent(app: TestApp, client: Awaited<ReturnType<typeof openLive>>, query = ''): Promise<void> {
  await until('the copy is current', async () => {
    const { json } = await app.get(`/api/data.json${query}`)
    const {
      alerts: _,
      shows: __,
      sources: ___,
      performers: ____,
      silences: _____,
      queue: ______,
      sites: _______,
      listeners: ________,
      ...data
    } = client.data()
    const ownLevels = (receivers: typeof json.receivers) =>
      JSON.stringify(receivers, (key, value) =>
        // While a channel has a transmitter, changes of the channel's own levels are not announced.
        key === 'channels'
          ? value.map((channel: { transmitter: unknown }) =>
              channel.transmitter === null ? channel : { ...channel, rf_level: null, audio_level: null },
            )
          : value,
      )
    expect(ownLevels(data.receivers)).toBe(ownLevels(json.receivers))
    expect({ ...data, receivers: [] }).toEqual({ ...json, receivers: [] })
    return true
  })
}

async function moveTo(app: TestApp, id: number | undefined, slot: number): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const { status } = await app.send('PATCH', `/api/channels/${id}/`, { headers, body: JSON.stringify({ slot }) })
  expect(status).toBe(200)
}

/** Returns what tests compare of a receiver. */
function batteries({
  id,
  channels,
}: {
  id: number
  channels: { id: number; transmitter: { battery: number } | null }[]
}) {
  return [id, channels.map((channel) => [channel.id, channel.transmitter?.battery])]
}

/** Connects without a WebSocket library, so that reading can be paused. */
async function openSlow(app: TestApp) {
  const socket = connect(app.port, '127.0.0.1')
  onTestEnd(() => void socket.destroy())
  const key = 'dGhlIHNhbXBsZSBub25jZQ=='
  const lines = ['GET /ws HTTP/1.1', `Host: 127.0.0.1:${app.port}`, 'Connection: Upgrade', 'Upgrade: websocket']
  const protocol = 'Sec-WebSocket-Protocol: micwatch.v2'
  socket.write([...lines, 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`, protocol, '', ''].join('\r\n'))
  const reader = createFrameReader()
  socket.on('data', (bytes: Buffer) => reader.read(bytes))
  await until('the first snapshot arrives', () => reader.messages.length > 0)
  socket.pause()
  return {
    messages: () => reader.messages,
    snapshots: () => reader.messages.filter(({ type }) => type === 'snapshot').length,
    resume: () => socket.resume(),
  }
}

/** Reads the HTTP response head and then the text messages, which may be fragmented. */
function createFrameReader() {
  const messages: { readonly type: string; readonly seq?: number }[] = []
  let rest = Buffer.alloc(0)
  let isOpen = false
  let text: Buffer[] = []
  return {
    messages,
    read(bytes: Buffer) {
      rest = Buffer.concat([rest, bytes])
      if (!isOpen) {
        const end = rest.indexOf('\r\n\r\n')
        if (end < 0) return
        isOpen = true
        rest = rest.subarray(end + 4)
      }
      for (let frame = readFrame(rest); frame !== null; frame = readFrame(rest)) {
        rest = rest.subarray(frame.end)
        if (frame.opcode > 2) continue
        text.push(frame.payload)
        if (!frame.isLast) continue
        messages.push(JSON.parse(String(Buffer.concat(text))))
        text = []
      }
    },
  }
}

function readFrame(bytes: Buffer) {
  if (bytes.length < 10) return null
  const [first = 0, second = 0] = bytes
  const [head, length] =
    second < 126 ? [2, second] : second === 126 ? [4, bytes.readUInt16BE(2)] : [10, Number(bytes.readBigUInt64BE(2))]
  const end = head + length
  if (bytes.length < end) return null
  return { isLast: first >= 128, opcode: first % 16, payload: bytes.subarray(head, end), end }
}

describe('a connection of version 2', () => {
  // Conformance: C-9b.1, C-9b.2.
  it('begins with a snapshot of everything, and announces the protocol', async () => {
    const { app } = await startService()
    const getStatus = async () => (await app.get('/api/health/')).json.vendor_api.status
    await until('the system is healthy', async () => (await getStatus()) === 'healthy')
    const socket = await app.socket('/ws', { protocols: ['other', 'micwatch.v2'] })
    expect(socket.protocol).toBe('micwatch.v2')
    const snapshot = await socket.next(() => true)
    expect(snapshot.type).toBe('snapshot')
    expect(snapshot.epoch).toMatch(/\w/)
    const { alerts, shows, sources, sites, performers, silences, queue, listeners, ...data } = snapshot.data
    expect(listeners).toBeNull()
    const { json } = await app.get('/api/data.json')
    expect(Object.keys(data).sort()).toEqual(Object.keys(json).sort())
    expect([alerts, shows, sites, performers, silences, queue]).toEqual([[], [], [], [], [], { pending: 0 }])
    expect(sources).toEqual([
      { code: 'shure', address: expect.any(String), status: 'healthy', error: null, silent_since: null },
    ])
    expect(socket.ofType('status')).toEqual([])
  })

  // Conformance: C-9b.1.
  it.each([
    ['protocol=1'],
    ['protocol=3'],
    ['protocol=2&since=-1'],
    ['protocol=2&since=x'],
    ['protocol=2&group=77'],
    ['protocol=2&group=x'],
    ['protocol=2&levels=some'],
    ['protocol=2&ack=yes'],
  ])('is rejected with 400 for %s', async (query) => {
    const app = await startApp()
    await expect(app.socket(`/ws?${query}`)).rejects.toThrow('HTTP 400')
  })

  // Conformance: C-9b.3, C-9b.4.
  it('receives every change, so that its copy stays equal to data.json', async () => {
    const { app, shure } = await startService()
    const client = await openLive(app)
    const [first, second] = [deviceOf(shure, 0), deviceOf(shure, 1)]
    shure.show.set(first.id, { battery: 33, name: 'New name', rf_level: -77 }, 1)
    shure.show.set(second.id, { rf_level: -66 }, 2)
    await expectCurrent(app, client)
    const [receiver] = await app.receivers()
    const [a, b] = receiver?.channels ?? []
    await app.post('/api/group/', { title: 'Band', slots: [1, 2] })
    await moveTo(app, a?.id, 100)
    await moveTo(app, b?.id, 1)
    await app.post('/api/config/', { key: 'alert_battery_threshold', value: '40' })
    const performer = (await app.post('/api/performers/', { name: 'Nora' })).json
    const unit = (await app.get('/api/units/')).json[0]
    await app.post('/api/assignments/', { performer: performer.id, wireless_unit: unit.id })
    await expectCurrent(app, client)
    await client.next(({ type, channel_id }) => type === 'alert' && channel_id === a?.id)
    expect(client.data().assignments).toMatchObject([{ wireless_unit: unit.id, performer: { name: 'Nora' } }])
    expect(client.data().performers).toMatchObject([{ name: 'Nora', notes: '', picture: null }])
    await until('the alerts are current', async () =>
      isDeepStrictEqual(client.data().alerts, (await app.get('/api/alerts/?state=raised')).json),
    )
    expectConsecutive(client.changes())
    expect(client.changes()[0]?.seq).toBe(client.snapshot.seq + 1)
    for (const { at: _, sentAt, ...message } of client.messages) {
      const isValid = Check(LiveServerMessage, sentAt === undefined ? message : { ...message, at: sentAt })
      expect(isValid, JSON.stringify(message)).toBe(true)
    }
  })
})

describe('a connection of version 2 that resumes', () => {
  // Conformance: C-9b.5.
  it('receives missed messages, including levels, and then new ones', async () => {
    const { app, shure } = await startService()
    const observer = await openLive(app)
    const client = await openLive(app)
    await app.post('/api/group/', { title: 'Before' })
    await client.next(({ type }) => type === 'groups')
    const since = client.seq()
    client.close()
    await client.closed
    await app.post('/api/group/', { title: 'Missed' })
    shure.show.set(deviceOf(shure).id, { rf_level: -41 }, 1)
    await observer.next(({ type, seq }) => type === 'levels' && seq > since)
    await observer.next(({ type, groups }) => type === 'groups' && groups.length === 2)
    const resumed = await openLive(app, `&since=${since}&epoch=${client.snapshot.epoch}`)
    expect(resumed.snapshot).toMatchObject({ type: 'resumed', seq: since, epoch: client.snapshot.epoch })
    await app.post('/api/group/', { title: 'After' })
    await resumed.next(({ type, groups }) => type === 'groups' && groups.length === 3)
    await observer.next(({ type, groups }) => type === 'groups' && groups.length === 3)
    expectConsecutive(resumed.changes())
    const missed = (socket: typeof resumed) =>
      socket.changes().filter(({ seq }) => seq > since && seq <= Math.min(resumed.seq(), observer.seq()))
    const withoutTime = (socket: typeof resumed) => missed(socket).map(({ at: _, ...message }) => message)
    expect(withoutTime(resumed)).toEqual(withoutTime(observer))
    expect(missed(resumed).map(({ type }) => type)).toEqual(expect.arrayContaining(['groups', 'levels']))
    expect(resumed.ofType('snapshot')).toEqual([])
  })

  // Conformance: C-9b.6.
  it('is sent a snapshot if the epoch is missing or foreign, the number is in the future, or the filters differ', async () => {
    const { app } = await startService()
    const { snapshot } = await openLive(app)
    const { seq, epoch } = snapshot
    const other = await startApp()
    const queries = [
      `&since=${seq}`,
      `&since=${seq}&epoch=foreign`,
      `&since=${seq + 1000}&epoch=${epoch}`,
      `&since=${seq}&epoch=${epoch}&manufacturer=shure`,
      `&since=${seq}&epoch=${epoch}&levels=false`,
      `&epoch=${epoch}`,
    ]
    for (const query of queries) expect((await openLive(app, query)).snapshot.type, query).toBe('snapshot')
    expect((await openLive(other, `&since=0&epoch=${epoch}`)).snapshot.type).toBe('snapshot')
    expect((await openLive(app, `&since=${seq}&epoch=${epoch}`)).snapshot.type).toBe('resumed')
  })
})

describe('a connection of version 2 with filters', () => {
  // Conformance: C-9b.7.
  it('receives only the manufacturer of its filter, as data.json does', async () => {
    const [shure, sennheiser] = [await startShure(), await startSennheiser()]
    const app = await startApp({ manufacturers: [configFor(shure), configFor(sennheiser)] })
    await until('all receivers are known', async () => (await app.receivers()).length === 4)
    await until('both subscriptions are connected', () => shure.push.connections > 0 && sennheiser.push.connections > 0)
    const client = await openLive(app, '&manufacturer=shure')
    const all = await openLive(app)
    for (const system of [sennheiser, shure]) system.show.set(deviceOf(system).id, { battery: 9, rf_level: -44 }, 1)
    await app.post('/api/config/?manufacturer=sennheiser', { key: 'alert_battery_threshold', value: '30' })
    await app.post('/api/config/', { key: 'alert_battery_threshold', value: '40' })
    await expectCurrent(app, all)
    await until('the alerts are raised', () => all.ofType('alert').length === 2)
    const { json } = await app.get('/api/data.json?manufacturer=shure')
    await until('the copy is current', () => {
      expect(client.data().receivers.length).toBe(2)
      expect(JSON.stringify(client.data().receivers.map(batteries))).toBe(JSON.stringify(json.receivers.map(batteries)))
      expect(client.ofType('alert')).toHaveLength(1)
      expect(client.ofType('settings').map(({ manufacturer, config }) => [manufacturer, config])).toEqual([
        ['shure', { alert_battery_threshold: 40 }],
      ])
      return true
    })
    const seqs = client.changes().map(({ seq }) => seq)
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b))
  })

  // Conformance: C-9b.8.
  it('receives the channels of its group and their receivers, and a new snapshot when its members change', async () => {
    const { app, shure } = await startService()
    const [first, second] = await app.receivers()
    const [channel, other] = [first?.channels[0], second?.channels[0]]
    const group = (await app.post('/api/group/', { title: 'Band', slots: [channel?.slot] })).json
    const client = await openLive(app, `&group=${group.id}`)
    const query = `?group=${group.id}`
    const { json } = await app.get(`/api/data.json${query}`)
    expect(json.receivers.map(({ id, channels }: typeof first & object) => [id, channels.length])).toEqual([
      [first?.id, 1],
    ])
    expect(json.groups).toEqual([group])
    const { receivers } = client.snapshot.data
    expect(receivers.map(({ id }: { id: number }) => id)).toEqual([first?.id])
    shure.show.set(deviceOf(shure, 1).id, { battery: 44 }, 1)
    shure.show.set(deviceOf(shure, 0).id, { battery: 45 }, 2)
    shure.show.set(deviceOf(shure, 0).id, { battery: 46 }, 1)
    await client.next((message) => message.type === 'channel' && message.transmitter?.battery === 46)
    expect(client.ofType('channel').every(({ id }) => id === channel?.id)).toBe(true)
    await app.post('/api/config/', { key: 'MINUTES_LOW', value: '50' })
    await app.post(`/api/config/?group=${group.id}`, { key: 'RF_WEAK_DBM', value: '-80' })
    await client.next(({ type, config }) => type === 'settings' && config.RF_WEAK_DBM === -80)
    expect(client.ofType('settings')).toMatchObject([
      { manufacturer: null, group: group.id, config: { MINUTES_LOW: 50 } },
      { manufacturer: null, group: group.id, config: { RF_WEAK_DBM: -80 } },
    ])
    const slots = [channel?.slot, other?.slot]
    await app.send('PUT', `/api/groups/${group.id}/`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ slots }),
    })
    await until('a second snapshot is sent', () => client.ofType('snapshot').length === 2)
    expect(client.data().receivers.map(({ id }: { id: number }) => id)).toEqual([first?.id, second?.id])
    await moveTo(app, other?.id, 777)
    await until('a third snapshot is sent', () => client.ofType('snapshot').length === 3)
    expect((await app.get('/api/data.json?group=99')).status).toBe(400)
  })

  // Conformance: C-9b.9.
  it('receives no levels, or all of them', async () => {
    const { app, shure } = await startService()
    const [none, basic, full] = [
      await openLive(app, '&levels=false'),
      await openLive(app),
      await openLive(app, '&levels=full'),
    ]
    const seen = full.seq()
    shure.show.set(deviceOf(shure).id, { rf_level: -43 }, 1)
    await full.next(({ type, seq }) => type === 'levels' && seq > seen)
    await basic.next(({ type, seq }) => type === 'levels' && seq > seen)
    await app.post('/api/group/', { title: 'Band' })
    await none.next(({ type }) => type === 'groups')
    expect(none.ofType('levels')).toEqual([])
    const channelIds = (await app.receivers()).flatMap(({ channels }) => channels.map(({ id }) => id))
    const [[id, rf] = []] = basic.ofType('levels').at(-1)?.values ?? []
    expect([channelIds, rf]).toEqual([expect.arrayContaining([id]), expect.any(Number)])
    const seqs = (client: typeof full) => client.ofType('levels').map(({ seq }) => seq)
    const common = seqs(full).filter((seq) => seqs(basic).includes(seq))
    expect(common.length).toBeGreaterThan(0)
  })

  // Conformance: C-9b.10.
  it('receives no messages about a manufacturer with disabled updates, and a new snapshot when they are enabled', async () => {
    const { app, shure } = await startService()
    const client = await openLive(app)
    const set = (value: string) => app.post('/api/config/?manufacturer=shure', { key: 'enable_websocket', value })
    await set('false')
    await client.next(({ type, config }) => type === 'settings' && config.enable_websocket === false)
    shure.show.set(deviceOf(shure).id, { battery: 47 }, 1)
    await until(
      'the change is stored',
      async () => (await app.receivers())[0]?.channels[0]?.transmitter?.battery === 47,
    )
    await app.post('/api/group/', { title: 'Band' })
    await client.next(({ type }) => type === 'groups')
    expect(client.ofType('channel')).toEqual([])
    await set('true')
    await until('a second snapshot is sent', () => client.ofType('snapshot').length === 2)
    expect(client.data().receivers[0].channels[0].transmitter.battery).toBe(47)
  })
})

describe('a client of version 2', () => {
  // Conformance: C-9b.11.
  it('receives the next levels only after its acknowledgement, with those it missed', async () => {
    const { app, shure } = await startService()
    const client = await openLive(app, '&ack=1')
    const observer = await openLive(app)
    const [receiver] = await app.receivers()
    const [first, second] = receiver?.channels ?? []
    const setLevel = async (channel: number, rf_level: number) => {
      const before = observer.ofType('levels').length
      shure.show.set(deviceOf(shure).id, { rf_level }, channel)
      await until('the levels are announced', () => observer.ofType('levels').length > before)
    }
    await setLevel(1, -41)
    const levels = await client.next(({ type }) => type === 'levels')
    await setLevel(1, -42)
    await setLevel(2, -43)
    await client.receiveAll()
    expect(client.ofType('levels')).toHaveLength(1)
    client.send({ type: 'ack', at: levels.sentAt })
    const next = await client.next(({ type, seq }) => type === 'levels' && seq > levels.seq)
    const levelsById = new Map(next.values.map(([id, rf]: number[]) => [id, rf]))
    expect([levelsById.get(first?.id), levelsById.get(second?.id)]).toEqual([-42, -43])
    expectRising(client.changes())
    const { seq, epoch } = { seq: client.seq(), epoch: client.snapshot.epoch }
    await setLevel(1, -44)
    const resumed = await openLive(app, `&ack=1&since=${seq}&epoch=${epoch}`)
    await resumed.next(({ type, values }) => type === 'levels' && values.length >= 2)
    expectRising(resumed.changes())
    expect(resumed.changes()[0]?.seq).toBeGreaterThan(seq)
    client.send({ type: 'ack' })
    await client.next(({ type }) => type === 'error')
  })

  // Conformance: C-9b.22.
  it('can change the selection of levels with an acknowledgement', async () => {
    const { app, shure } = await startService()
    const client = await openLive(app, '&ack=1&levels=false')
    const observer = await openLive(app)
    client.send({ type: 'select_levels', levels: 'full', sites: ['local'] })
    const current = await client.next(({ type }) => type === 'levels')
    const channels = (await app.receivers()).flatMap((receiver) => receiver.channels.map(({ id }) => id))
    expect(current.values.map(([id]: number[]) => id).sort()).toEqual(channels.sort())
    client.send({ type: 'select_levels', levels: 'true', sites: ['elsewhere'] })
    client.send({ type: 'ack', at: current.sentAt })
    const before = observer.ofType('levels').length
    shure.show.set(deviceOf(shure).id, { rf_level: -41 }, 1)
    await until('the levels are announced', () => observer.ofType('levels').length > before)
    await client.receiveAll()
    expect(client.ofType('levels')).toHaveLength(1)
    client.send({ type: 'select_levels', levels: 'some' })
    expect(await client.next(({ type }) => type === 'error')).toMatchObject({
      error: expect.stringContaining('levels'),
    })
    observer.send({ type: 'select_levels', levels: 'false' })
    expect(await observer.next(({ type }) => type === 'error')).toMatchObject({
      error: expect.stringContaining('ack=1'),
    })
  })

  // Conformance: C-9b.12.
  it('is sent a tick after a second without another message', async () => {
    const app = await startApp()
    const client = await openLive(app)
    const tick = await client.next(({ type }) => type === 'tick')
    expect(tick.sentAt).toMatch(/^\d{4}-.*Z$/)
    expect(tick).not.toHaveProperty('seq')
    const next = await until('another tick is sent', () => client.ofType('tick')[1])
    expect(Date.parse(String(next.sentAt)) - Date.parse(String(tick.sentAt))).toBeGreaterThan(900)
    client.send({ type: 'ping', id: 5 })
    expect(await client.next(({ type }) => type === 'pong')).toMatchObject({ id: 5 })
  })

  // Conformance: C-9b.13.
  it('receives a new snapshot in place of dropped messages when it reads again', async () => {
    const app = await startApp()
    const client = await openSlow(app)
    // Large messages, because the socket buffers of the client and the service hold several megabytes.
    const title = 'x'.repeat(255)
    const slots = Array.from({ length: 10_000 }, (_, index) => index + 1)
    for (let count = 0; count < 28; count += 1) await app.post('/api/group/', { title, slots })
    const last = (await openLive(app)).seq()
    client.resume()
    await until('the snapshot arrives', () => client.snapshots() > 1)
    const numbered = client.messages().filter(({ seq }) => seq !== undefined)
    expect(numbered.at(-1)).toMatchObject({ type: 'snapshot', seq: last })
    expect(numbered.length).toBeLessThan(28)
    await app.post('/api/group/', { title: 'Last' })
    await until('the next message arrives', () => client.messages().some(({ seq }) => seq === last + 1))
  })
})

// Conformance: C-9b.21.
it('announces a subscription that connects, is lost, or fails again', async () => {
  const { shure, app } = await startService()
  const client = await openLive(app)
  shure.setFault({ type: 'close-connections' })
  shure.setFault({ type: 'status', status: 503 }, { path: /\/ws$/ })
  const isStatus = (status: string) => (message: { type: string }) =>
    message.type === 'status_update' && 'status' in message && message.status === status
  await client.next(isStatus('disconnected'))
  const failed = await client.next(isStatus('error'))
  expect(failed).toMatchObject({ about: 'link', manufacturer: 'shure', seq: expect.any(Number) })
  // The pages count failing subscriptions, so each failed attempt is announced.
  await client.next(isStatus('error'))
  shure.setFault(null)
  await client.next(isStatus('connected'))
})

import type { Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { startAudioTechnicaSimulator } from '../../../simulators/audio_technica/receivers.ts'
import type { Fault } from '../../../simulators/show/faults.ts'
import {
  connectToDevice,
  describeDevices,
  findReport,
  follow,
  problemsOfSession,
} from '../../../test/support/plugins/device-kit.ts'
import { expectCommonFormat, freeze, readFixtures } from '../../../test/support/plugins/plugin-kit-fixtures.ts'
import { rejectionOf, until } from '../../../test/support/plugins/plugin-kit-resources.ts'
import { serveLines, serveRaw } from '../../../test/support/plugins/plugin-kit-server.ts'
import { timeLimit } from '../../../test/support/time-limit.ts'
import { getDevices, type PushEvent } from '../plugin.ts'
import { audioTechnica } from './index.ts'
import { receiver } from './receiver.ts'

const resources: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of resources.splice(0).toReversed()) await resource.close()
})
const track = <T extends { close(): unknown }>(resource: T): T => {
  resources.push(resource)
  return resource
}

/** The first simulated device is a System 20 PRO, the second an ESW, the third a charger. */
const firstNumbers = { system20: 1, esw: 2, charger: 3 } as const
type Family = keyof typeof firstNumbers

const startSimulator = (family: Family) =>
  startAudioTechnicaSimulator({ receivers: 1, story: false, firstNumber: firstNumbers[family] })

async function startUnit(family: Family = 'esw') {
  const simulator = track(await startSimulator(family))
  const [state] = simulator.show.devicesAt(0)
  if (state === undefined) throw new Error('The show has no device.')
  return { simulator, state, showId: state.device.id }
}

function connect(url: string, config: object = {}) {
  const connection = connectToDevice(audioTechnica, url, config)
  track(connection.client)
  return connection
}

/** Rejects queries of the device as unknown, and queries of a channel as one without a transmitter. */
const rejectUnknown = (query: string) => `${query.split(' ')[0]} 0000 00 NC NAK ${/\d$/.test(query) ? '62' : '02'}`
const serve = async (responses: Readonly<Record<string, unknown>>, defaultResponse: string | typeof rejectUnknown) =>
  track(await serveLines({ responses, requestEnd: '\r', responseEnd: '\r', defaultResponse }))

async function serveSessions(onLine: (socket: Socket, line: string) => unknown, onSocket = (_: Socket) => {}) {
  const server = await serveRaw((socket) => {
    onSocket(socket)
    socket.on('data', (bytes) => {
      for (const line of bytes.toString('latin1').split('\r').slice(0, -1)) onLine(socket, line)
    })
  })
  return track({ ...server, url: server.url.replace('http:', 'tcp:') })
}

describeDevices(
  (['system20', 'esw'] as const).map((family) => ({
    name: family,
    plugin: audioTechnica,
    // A System 20 PRO has no channel names. Its transmitters have names of two characters.
    ...(family === 'system20' && { isRenamed: ({ transmitter }) => transmitter?.name === 'EL' }),
    async start() {
      const simulator = await startSimulator(family)
      const [state] = simulator.show.devicesAt(0)
      let noise: NodeJS.Timeout | undefined
      return {
        url: simulator.baseUrl,
        get clients() {
          return simulator.push.connections
        },
        setFault(fault) {
          const faults: Readonly<Record<string, Fault>> = { silent: { type: 'hang' }, foreign: { type: 'not-json' } }
          simulator.setFault(faults[String(fault)] ?? null)
          if (fault === 'noise') noise = setInterval(() => simulator.push.send('MD nlevelall 0000 00 NC 1,1,7'), 5)
        },
        change: (channel, change) => simulator.show.set(state?.device.id ?? '', change, channel),
        close() {
          clearInterval(noise)
          return simulator.close()
        },
      }
    },
  })),
)

// Conformance: C-22.1.
test('levels are valid for three rounds at a low rate limit', () => {
  const intervalOf = (perSecond: number) => {
    const { rf } = receiver.levels?.('esw', { perSecond, burst: 1 }) ?? {}
    return rf?.kind === 'polled' ? rf.intervalMs : undefined
  }
  // 27 queries, at four fifths of the rate limit.
  expect(intervalOf(1)).toBe(33_750)
  expect(intervalOf(10)).toBe(3_375)
})

const folder = new URL('./fixtures/', import.meta.url)

test.each(readFixtures(folder))('fixture $name', async ({ fixture }) => {
  const { url } = await serve(fixture.answers, rejectUnknown)
  const devices = await getDevices(receiver, connect(url).client)
  const reports = devices.map((device) => receiver.transformDeviceData(freeze(device)))
  for (const report of reports) expectCommonFormat(report)
  expect(reports.map(({ metadata, ...report }) => report)).toEqual(fixture.reports)
})

test('clears the problems of the previous session', async () => {
  const { simulator } = await startUnit()
  expect(await problemsOfSession(connect(simulator.baseUrl), simulator)).toEqual([[]])
})

test('names what a device rejects or reports in another form, and reads the rest', async () => {
  const fixture = readFixtures(folder).find(({ name }) => name === 'esw.json')?.fixture
  const answers: Record<string, unknown> = {
    ...fixture?.answers,
    'gmyversion O 0000 00 NC ': 'gmyversion 0000 05 NC NAK 02',
    'gchname O 0000 00 NC 1': 'gchname 0000 05 NC "Lectern"',
    'gchname O 0000 00 NC 2': 'gchname 0000 05 NC 2,"a"b',
    'gchvolume O 0000 00 NC 1': 'gchvolume 0000 05 NC NAK 04',
    'gchvolume O 0000 00 NC 2': 'gchvolume 0000 05 NC 2,30',
    'gchmute O 0000 00 NC 2': 'gchmute 0000 05 NC NAK 99',
    // The values of a transmitter that is no longer received remain.
    'glevelbatttx O 0000 00 NC 1': 'glevelbatttx 0000 05 NC 1,0,81,0930,0',
    'glevelbatttx O 0000 00 NC 2': 'glevelbatttx 0000 05 NC 2,1,7,----,1',
    'glevelrf O 0000 00 NC 3': 'glevelrf 0000 05 NC NAK 99',
  }
  const { url } = await serve(answers, rejectUnknown)
  let problems: readonly string[] = []
  const events = follow(connect(url), new AbortController().signal, (all) => {
    problems = all.map(({ problem }) => problem)
  })
  const { channels } = await findReport(events, () => true)
  expect(channels).toMatchObject([
    { name: null, rf_level: -69, transmitter: { name: 'DS 1', battery: null, details: { battery_minutes: null } } },
    { name: null, transmitter: { name: 'Anna', battery: 7, details: { battery_minutes: null } } },
    {},
    { transmitter: null },
    {},
    {},
    {},
    {},
  ])
  expect(channels?.[2]).not.toHaveProperty('transmitter')
  expect(problems).toEqual([
    'the device refuses gmyversion (NAK 02, unknown command), glevelrf (NAK 99, other error), gchmute (NAK 99, other error), and the device reports gchname, glevelbatttx 3 in an undocumented form, so these values are unknown',
  ])
  Object.assign(answers, fixture?.answers)
  await findReport(events, () => problems.length === 0)
})

test('a charger with a malformed port reports the packs in the others', async () => {
  const fixture = readFixtures(folder).find(({ name }) => name === 'charger.json')?.fixture
  const { url } = await serve(
    {
      ...fixture?.answers,
      'glevelbatt O 0000 00 NC 3': 'glevelbatt 0000 07 NC 3,?,81',
      'glevelbatt O 0000 00 NC 5': 'glevelbatt 0000 07 NC NAK 04',
    },
    rejectUnknown,
  )
  const [device] = await getDevices(receiver, connect(url).client)
  expect(device && receiver.transformDeviceData(device).units?.map(({ id }) => id.at(-1))).toEqual(['1', '4'])
})

test('accepts only TCP addresses, with the control port by default', () => {
  const [source] = audioTechnica.listSources({ devices: ['tcp://10.0.0.5'] })
  expect(source).toMatchObject({ baseUrl: 'tcp://10.0.0.5:17200', adapter: receiver })
  expect(() => audioTechnica.listSources({ devices: ['http://10.0.0.5'] })).toThrow(/devices: .*tcp:\/\//)
})

test('rejects other hosts, and other devices of the manufacturer', async () => {
  const foreign = await serve({}, 'HELLO')
  await expect(receiver.listDevices(connect(foreign.url, { timeout: 1 }).client)).rejects.toThrow(
    /responds, but does not report the model of an Audio-Technica receiver$/,
  )
  const mute = await serve({}, rejectUnknown)
  await expect(receiver.listDevices(connect(mute.url).client)).rejects.toThrow(/\(NAK 02, unknown command\)$/)
  const mixer = await serve({ 'gmymodel O 0000 00 NC ': 'gmymodel 0000 00 NC "ATDM-0604a"' }, rejectUnknown)
  await expect(receiver.listDevices(connect(mixer.url).client)).rejects.toMatchObject({
    message: expect.stringMatching(/device of the model ATDM-0604a, which is not supported/),
    failureKind: 'unsupported',
  })
})

test('queries a System 20 PRO that does not reply to the link ID of an ESW', async () => {
  const { url } = await serveSessions((socket, line) => {
    const [command, , linkId] = line.split(' ')
    if (linkId !== '0001') return
    socket.write(`${command} 0001 00 NC ${command === 'gmymodel' ? '"ATW-R1440"' : 'NAK 02'}\r`)
  })
  const { devices } = await receiver.listDevices(connect(url).client)
  expect(devices.map((device) => receiver.transformDeviceData(device).model_name)).toEqual(['ATW-R1440'])
})

test('sends only queries, at most 287 bytes long', async () => {
  for (const family of ['system20', 'esw', 'charger'] as const) {
    const { simulator } = await startUnit(family)
    const events = follow(connect(simulator.baseUrl), new AbortController().signal)
    // Two complete reports: all queries have been sent.
    await findReport(events, ({ name }) => name)
    await findReport(events, ({ name }) => name)
    const queries = simulator.requests.entries.map(({ path }) => path)
    expect(queries.length).toBeGreaterThan(15)
    for (const query of queries) expect(query).toMatch(/^g[a-z\d]+ O \d{4} 00 NC( \d)?$/)
    await simulator.close()
    await rejectionOf(findReport(events, () => false))
  }
})

describe('a receiver with one session', () => {
  test('is read through the session of its subscription', async () => {
    const { simulator } = await startUnit()
    const controller = new AbortController()
    const connection = connect(simulator.baseUrl)
    const events = follow(connection, controller.signal)
    await findReport(events, () => true)
    const { devices } = await receiver.listDevices(connection.client)
    expect(devices).toHaveLength(1)
    expect(simulator.push.connections).toBe(1)
    const aborted = new AbortController()
    const listed = rejectionOf(receiver.listDevices(connection.client, aborted.signal))
    aborted.abort('enough')
    expect(await listed).toBe('enough')
    await findReport(events, () => true)
    controller.abort()
    expect(await rejectionOf(findReport(events, () => false))).toMatchObject({ message: 'the subscription ended' })
    await until(() => simulator.push.connections === 0, 'the session is closed')
  })

  test('reports that another program is connected', async () => {
    const { simulator } = await startUnit()
    const events = follow(connect(simulator.baseUrl), new AbortController().signal)
    await findReport(events, () => true)
    const error = await rejectionOf(receiver.listDevices(connect(simulator.baseUrl).client))
    expect(error).toBeInstanceOf(audioTechnica.errors.ApiError)
    expect(error).toMatchObject({
      message: expect.stringMatching(/refused the session, .* only one; close the other program that is connected/),
    })
    await simulator.close()
    await rejectionOf(findReport(events, () => false))
  })

  test('is asked once more for a session, because it may not have noticed that the last one was closed', async () => {
    let sessions = 0
    const onSocket = (socket: Socket) => {
      sessions += 1
      if (sessions === 1) socket.destroy()
    }
    const { url } = await serveSessions((socket, line) => {
      const [command] = line.split(' ')
      socket.write(`${command} 0000 00 NC ${command === 'gmymodel' ? '"ESW-R4180DAN"' : 'NAK 02'}\r`)
    }, onSocket)
    expect((await receiver.listDevices(connect(url).client)).devices).toHaveLength(1)
    expect(sessions).toBe(2)
  })
})

describe('a busy receiver', () => {
  test('is queried again', async () => {
    const { simulator } = await startUnit()
    simulator.setFault({ type: 'status', status: 90 }, { path: 'gchname', times: 2 })
    const [device] = await getDevices(receiver, connect(simulator.baseUrl).client)
    const report = device && receiver.transformDeviceData(device)
    expect(report?.channels?.every(({ name }) => typeof name === 'string')).toBe(true)
  })

  test('keeps its values', async () => {
    const { simulator } = await startUnit()
    const events = follow(connect(simulator.baseUrl), new AbortController().signal)
    await findReport(events, ({ name }) => name)
    simulator.setFault({ type: 'status', status: 92 }, { path: 'gchname O 0000 00 NC 1' })
    const report = await findReport(events, ({ name }) => name)
    expect(report.channels?.[0]?.name).toEqual(expect.any(String))
    await simulator.close()
    await rejectionOf(findReport(events, () => false))
  })
})

test('reads divided answers', async () => {
  const { url } = await serveSessions((socket, line) => {
    const [command] = line.split(' ')
    if (command === 'gmymodel') socket.write('gmymodel 0000 00 CS "ESW-\rgmymodel 0000 00 CM R4180\r')
    socket.write(`${command} 0000 00 ${command === 'gmymodel' ? 'CE DAN",1' : 'NC NAK 02'}\r`)
  })
  const [device] = await getDevices(receiver, connect(url).client)
  expect(device && receiver.transformDeviceData(device).model_name).toBe('ESW-R4180DAN')
})

test('stores rejected queries in words', async () => {
  const { simulator } = await startUnit()
  simulator.setFault({ type: 'status', status: 4 }, { path: 'gchname' })
  const [device] = await getDevices(receiver, connect(simulator.baseUrl).client)
  expect(device && receiver.transformDeviceData(device).metadata).toMatchObject({
    gmymodel: ['ESW-R4180DAN', '1'],
    'gchname 1': 'NAK 04, invalid parameter',
  })
})

describe.each([
  ['from the start', {}],
  ['during the session', { path: 'gchname' }],
])('a fault %s', (_, scope) => {
  const late = /no response .* within 1 s/
  test.each<[Fault['type'], RegExp]>([
    ['hang', late],
    ['drip', late],
    ['reset', /closed|refused the session/],
    ['truncated', /closed|refused the session/],
    ['huge', /larger than/],
  ])('%s', async (type, message) => {
    const { simulator } = await startUnit()
    simulator.setFault({ type } as Fault, scope)
    const timeout = message === late ? 1 : 20
    const startedAt = performance.now()
    const thrown = await rejectionOf(receiver.listDevices(connect(simulator.baseUrl, { timeout }).client))
    expect(thrown).toBeInstanceOf(audioTechnica.errors.ApiError)
    expect(thrown).toMatchObject({ message: expect.stringMatching(message) })
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(2_500))
  })
})

test('a failure ends the session for all its users with the ApiError of the plugin', async () => {
  const { simulator } = await startUnit()
  const connection = connect(simulator.baseUrl)
  const events = follow(connection, new AbortController().signal)
  await findReport(events, () => true)
  simulator.setFault({ type: 'hang' })
  const failures = [rejectionOf(findReport(events, () => false)), rejectionOf(receiver.listDevices(connection.client))]
  for (const error of await Promise.all(failures)) expect(error).toBeInstanceOf(audioTechnica.errors.ApiError)
  simulator.setFault(null)
  expect((await receiver.listDevices(connection.client)).devices).toHaveLength(1)
})

test('a subscription ends with an error when the receiver stops answering or disconnects', async () => {
  for (const failure of ['hang', 'close-connections', 'off'] as const) {
    const { simulator, showId } = await startUnit()
    const events = follow(connect(simulator.baseUrl), new AbortController().signal)
    await findReport(events, () => true)
    if (failure === 'off') simulator.show.set(showId, { online: false })
    else simulator.setFault({ type: failure })
    expect(await rejectionOf(findReport(events, () => false))).toBeInstanceOf(audioTechnica.errors.ApiError)
  }
})

test('sends no more queries than the rate limit allows', async () => {
  const { simulator } = await startUnit()
  const rateLimit = { calls_per_second: 200, burst: 10 }
  await receiver.listDevices(connect(simulator.baseUrl, rateLimit).client)
  const sentAt = simulator.requests.entries.map(({ at }) => at)
  expect(sentAt.length).toBeGreaterThan(2 * rateLimit.burst)
  for (const [first, from] of sentAt.entries()) {
    for (const [more, to] of sentAt.slice(first).entries()) {
      expect(more + 1).toBeLessThanOrEqual(((to - from + 1) / 1000) * rateLimit.calls_per_second + rateLimit.burst)
    }
  }
})

test.each([
  ['esw', 'Understudy'],
  ['system20', 'UN'],
] as const)('%s: does not report another transmitter with the values of the previous one', async (family, newName) => {
  const { simulator, showId } = await startUnit(family)
  const events: AsyncIterator<PushEvent> = follow(connect(simulator.baseUrl), new AbortController().signal)
  const names: (string | null | undefined)[] = []
  const findTransmitter = (isWanted: (name: string | null | undefined) => boolean) =>
    findReport(events, ({ channels }) => {
      const transmitter = channels?.[0]?.transmitter
      names.push(transmitter === null ? null : transmitter?.name)
      return isWanted(names.at(-1))
    })
  await findTransmitter((name) => typeof name === 'string')
  simulator.show.set(showId, { transmitter: false, name: 'Understudy' }, 1)
  await findTransmitter((name) => name === null)
  names.length = 0
  simulator.show.set(showId, { transmitter: true }, 1)
  await findTransmitter((name) => name === newName)
  expect(names.filter((name) => name !== null && name !== undefined)).toEqual([newName])
  await simulator.close()
  await rejectionOf(findTransmitter(() => false))
})

test('a charger reports its packs as units that are removed and return', async () => {
  const { simulator, showId } = await startUnit('charger')
  const controller = new AbortController()
  const events = follow(connect(simulator.baseUrl), controller.signal)
  const { id, name, units = [] } = await findReport(events, () => true)
  expect(units.map((unit) => unit.id)).toEqual([1, 2, 3, 4].map((port) => `${id}:${port}`))
  simulator.show.set(showId, { transmitter: false, name: 'Spare' }, 2)
  await findReport(events, (report) => report.units?.length === 3)
  simulator.show.set(showId, { transmitter: true }, 2)
  const named = await findReport(events, (report) => report.units?.[1]?.name === 'Spare')
  expect(named.units).toHaveLength(4)
  expect(name).not.toBe('Spare')
  controller.abort()
  await rejectionOf(findReport(events, () => false))
})

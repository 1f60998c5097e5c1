import { afterEach, describe, expect, test } from 'vitest'
import { startLectrosonicsSimulator } from '../../../simulators/lectrosonics/dsqd.ts'
import type { Fault } from '../../../simulators/show/faults.ts'
import {
  connectToDevice,
  describeDevices,
  findReport,
  follow,
  problemsOfSession,
} from '../../../test/support/plugins/device-kit.ts'
import { expectCommonFormat, freeze, readFixtures } from '../../../test/support/plugins/plugin-kit-fixtures.ts'
import { rejectionOf } from '../../../test/support/plugins/plugin-kit-resources.ts'
import { serveLines } from '../../../test/support/plugins/plugin-kit-server.ts'
import { timeLimit } from '../../../test/support/time-limit.ts'
import { getDevices } from '../plugin.ts'
import { dsqd } from './dsqd.ts'
import { lectrosonics } from './index.ts'

const resources: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of resources.splice(0).toReversed()) await resource.close()
})
const track = <T extends { close(): unknown }>(resource: T): T => {
  resources.push(resource)
  return resource
}

const startSimulator = () => startLectrosonicsSimulator({ receivers: 1, story: false })

async function startUnit() {
  const simulator = track(await startSimulator())
  const [state] = simulator.show.devicesAt(0)
  if (state === undefined) throw new Error('The show has no device.')
  return { simulator, state, showId: state.device.id }
}

function connect(url: string, config: object = {}) {
  const connection = connectToDevice(lectrosonics, url, config)
  track(connection.client)
  return connection
}

const serve = async (responses: Readonly<Record<string, unknown>>, defaultResponse: string) =>
  track(await serveLines({ responses, requestEnd: '\r', responseEnd: '\r\n', defaultResponse }))

describeDevices([
  {
    name: 'DSQD',
    plugin: lectrosonics,
    async start() {
      const simulator = await startSimulator()
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
          // Simulates answers to the queries of another client.
          if (fault === 'noise') noise = setInterval(() => simulator.push.send('OK rxclip(1)=0'), 5)
        },
        change: (channel, change) => simulator.show.set(state?.device.id ?? '', change, channel),
        close() {
          clearInterval(noise)
          return simulator.close()
        },
      }
    },
  },
])

// Conformance: C-22.1.
test('levels are valid for three rounds at a low rate limit', () => {
  // Five queries, at four fifths of the rate limit.
  const levels = dsqd.levels?.('dsqd', { perSecond: 0.5, burst: 1 })
  expect(levels).toMatchObject({ rf: { kind: 'polled', intervalMs: 12_500 }, audio: { intervalMs: 12_500 } })
})

const folder = new URL('./fixtures/', import.meta.url)

test.each(readFixtures(folder))('fixture $name', async ({ fixture }) => {
  const { url } = await serve(fixture.answers, 'ERROR')
  const devices = await getDevices(dsqd, connect(url).client)
  const reports = devices.map((device) => dsqd.transformDeviceData(freeze(device)))
  for (const report of reports) expectCommonFormat(report)
  expect(reports.map(({ metadata, ...report }) => report)).toEqual(fixture.reports)
})

test('accepts only TCP addresses, with the command port by default', () => {
  const [source] = lectrosonics.listSources({ devices: ['tcp://10.0.0.5'] })
  expect(source).toMatchObject({ baseUrl: 'tcp://10.0.0.5:4080', adapter: dsqd })
  expect(() => lectrosonics.listSources({ devices: ['http://10.0.0.5'] })).toThrow(/devices: .*tcp:\/\//)
})

test('clears the problems of the previous session', async () => {
  const { simulator } = await startUnit()
  expect(await problemsOfSession(connect(simulator.baseUrl), simulator)).toEqual([[]])
})

test('names what a device refuses or reports in another form, and reads the rest', async () => {
  const fixture = readFixtures(folder).find(({ name }) => name === 'everything.json')?.fixture
  const answers: Record<string, unknown> = {
    ...fixture?.answers,
    '!hwstat?': 'OK hwstat=0',
    '!txkeygood(*)?': 'ERROR',
    '!rxfreq(*)?': 'OK rxfreq(*)={471200,--,518550,0}',
    '!rxname(2)?': 'HELLO',
    '!chstat(1)?': 'OK chstat(1)={1,1,1,-37,181,0,2,0,0,42,0,0,0,0,28,0}',
    '!chstat(2)?': 'OK chstat(2)={1,1,0,-120,4,0,1,1}',
  }
  const { url } = await serve(answers, 'ERROR')
  let problems: readonly string[] = []
  const events = follow(connect(url), new AbortController().signal, (all) => {
    problems = all.map(({ problem }) => problem)
  })
  const report = await findReport(events, () => true)
  expect(report.channels).toMatchObject([
    // No battery warning contradicts the charge of 0.
    { frequency: '471.200', transmitter: { name: 'Aurelio', battery: null, details: { battery_low: false } } },
    { name: null, frequency: null, rf_level: -106, details: { muted: true }, transmitter: null },
    { frequency: '518.550' },
  ])
  expect(problems).toEqual([
    'the device refuses txkeygood(*) (ERROR), and the device reports chstat(*), rxfreq(*), rxname(*) in an undocumented form, so these values are unknown',
  ])
  answers['!chstat(2)?'] = fixture?.answers['!chstat(2)?']
  await findReport(events, () => problems[0]?.includes('chstat') === false)
})

// Conformance: C-24.2.
test.each([
  ['OK hwstat=1', { fault: 'antenna_short', faults: [{ part: null, word: 'hwstat 1' }] }],
  ['OK hwstat=0', { fault: null }],
  ['OK hwstat=9', { fault: null }],
  ['ERROR', undefined],
  ['HELLO', undefined],
])('reads its own fault from the answer %s', async (answer, details) => {
  const fixture = readFixtures(folder).find(({ name }) => name === 'everything.json')?.fixture
  const { url } = await serve({ ...fixture?.answers, '!hwstat?': answer }, 'ERROR')
  const report = await findReport(follow(connect(url), new AbortController().signal), () => true)
  expect(report.details).toEqual(details)
})

test('rejects a host that is not a DSQD', async () => {
  const { url } = await serve({}, 'HELLO')
  await expect(dsqd.listDevices(connect(url).client)).rejects.toThrow(/responds, but is not a DSQD/)
})

describe.each([
  ['from the start', {}],
  ['during the session', { path: 'chstat' }],
])('a fault %s', (_, scope) => {
  const late = /no response .* within 1 s/
  test.each<[Fault['type'], RegExp]>([
    ['hang', late],
    ['drip', late],
    ['reset', /closed/],
    ['truncated', /closed/],
    ['huge', /larger than/],
  ])('%s', async (type, message) => {
    const { simulator } = await startUnit()
    simulator.setFault({ type } as Fault, scope)
    const timeout = message === late ? 1 : 20
    const startedAt = performance.now()
    const thrown = await rejectionOf(dsqd.listDevices(connect(simulator.baseUrl, { timeout }).client))
    expect(thrown).toBeInstanceOf(lectrosonics.errors.ApiError)
    expect(thrown).toMatchObject({ message: expect.stringMatching(message) })
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(2_500))
  })
})

test('a subscription ends with an error when the device stops answering or disconnects', async () => {
  for (const failure of ['hang', 'close-connections', 'off'] as const) {
    const { simulator, showId } = await startUnit()
    const events = follow(connect(simulator.baseUrl), new AbortController().signal)
    await findReport(events, () => true)
    if (failure === 'off') simulator.show.set(showId, { online: false })
    else simulator.setFault({ type: failure })
    expect(await rejectionOf(findReport(events, () => false))).toBeInstanceOf(lectrosonics.errors.ApiError)
  }
})

test('sends no more queries than the rate limit allows', async () => {
  const { simulator } = await startUnit()
  const rateLimit = { calls_per_second: 200, burst: 10 }
  await dsqd.listDevices(connect(simulator.baseUrl, rateLimit).client)
  const sentAt = simulator.requests.entries.map(({ at }) => at)
  expect(sentAt.length).toBeGreaterThan(2 * rateLimit.burst)
  for (const [first, from] of sentAt.entries()) {
    for (const [more, to] of sentAt.slice(first).entries()) {
      expect(more + 1).toBeLessThanOrEqual(((to - from + 1) / 1000) * rateLimit.calls_per_second + rateLimit.burst)
    }
  }
})

test('does not report another transmitter under the name of the previous one', async () => {
  const { simulator, state, showId } = await startUnit()
  const events = follow(connect(simulator.baseUrl), new AbortController().signal)
  const names: (string | null | undefined)[] = []
  const until = (name: string | null | undefined) =>
    findReport(events, ({ channels }) => {
      const transmitter = channels?.[0]?.transmitter
      names.push(transmitter === null ? null : transmitter?.name)
      return names.at(-1) === name
    })
  await until(state.channels[0]?.transmitter?.name.slice(0, 15))
  simulator.show.set(showId, { transmitter: false, name: 'Understudy' }, 1)
  await until(null)
  names.length = 0
  simulator.show.set(showId, { transmitter: true }, 1)
  await until('Understudy')
  expect(names.filter((name) => name !== null && name !== undefined)).toEqual(['Understudy'])
  await simulator.close()
  await rejectionOf(until('never'))
})

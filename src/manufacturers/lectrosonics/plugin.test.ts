import { afterEach, describe, expect, test } from 'vitest'
import { describeDevice, findTold, follow, linkToDevice } from '../../../test/device-kit.ts'
import { expectCommonFormat, freeze, readFixtures } from '../../../test/plugin-kit-fixtures.ts'
import { caught } from '../../../test/plugin-kit-resources.ts'
import { serveLines } from '../../../test/plugin-kit-server.ts'
import { timeLimit } from '../../../test/time-limit.ts'
import type { Fault } from '../../simulation/faults.ts'
import { getDevices } from '../plugin.ts'
import { dsqd } from './dsqd.ts'
import { LectrosonicsApiError } from './errors.ts'
import { lectrosonics } from './index.ts'
import { startLectrosonicsSimulator } from './simulator.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})
const keep = <T extends { close(): unknown }>(one: T): T => {
  open.push(one)
  return one
}

const startSimulator = () => startLectrosonicsSimulator({ receivers: 1, story: false })

async function startUnit() {
  const simulator = keep(await startSimulator())
  const [state] = simulator.show.devicesAt(0)
  if (state === undefined) throw new Error('the show has no device')
  return { simulator, state, showId: state.device.id }
}

function linkTo(url: string, config: object = {}) {
  const linked = linkToDevice(lectrosonics, url, config)
  keep(linked.link)
  return linked
}

const serve = async (answers: Readonly<Record<string, unknown>>, otherwise: string) =>
  keep(await serveLines({ answers, questionEnd: '\r', answerEnd: '\r\n', otherwise }))

describeDevice({
  name: 'DSQD',
  plugin: lectrosonics,
  async start() {
    const simulator = await startSimulator()
    const [state] = simulator.show.devicesAt(0)
    let noise: NodeJS.Timeout | undefined
    return {
      url: simulator.baseUrl,
      get clients() {
        return simulator.push.links
      },
      setFault(fault) {
        const faults: Readonly<Record<string, Fault>> = { silent: { type: 'hang' }, foreign: { type: 'not-json' } }
        simulator.setFault(faults[String(fault)] ?? null)
        // Answers to what somebody else asked.
        if (fault === 'noise') noise = setInterval(() => simulator.push.send('OK rxclip(1)=0'), 5)
      },
      change: (channel, change) => simulator.show.set(state?.device.id ?? '', change, channel),
      close() {
        clearInterval(noise)
        return simulator.close()
      },
    }
  },
})

test.each(readFixtures(new URL('./fixtures/', import.meta.url)))('fixture $name', async ({ fixture }) => {
  const { url } = await serve(fixture.answers, 'ERROR')
  const devices = await getDevices(dsqd, linkTo(url).link)
  const observations = devices.map((device) => dsqd.transformDeviceData(freeze(device)))
  for (const observation of observations) expectCommonFormat(observation)
  expect(observations.map(({ metadata, ...told }) => told)).toEqual(fixture.observations)
})

test('an address is a device at its command port, and nothing else is', () => {
  const [source] = lectrosonics.listSources({ devices: ['tcp://10.0.0.5'] })
  expect(source).toMatchObject({ baseUrl: 'tcp://10.0.0.5:4080', form: dsqd })
  expect(() => lectrosonics.listSources({ devices: ['http://10.0.0.5'] })).toThrow(/devices: .*tcp:\/\//)
})

test('something else at that port is no device', async () => {
  const { url } = await serve({}, 'HELLO')
  await expect(dsqd.listDevices(linkTo(url).link)).rejects.toThrow(/answers, but is no DSQD/)
})

describe.each([
  ['from the start', {}],
  ['in the middle', { path: 'chstat' }],
])('trouble %s', (_, scope) => {
  const late = /no answer .* within 1 s/
  test.each<[Fault['type'], RegExp]>([
    ['hang', late],
    ['drip', late],
    ['reset', /closed/],
    ['truncated', /closed/],
    ['huge', /larger than/],
  ])('%s', async (type, says) => {
    const { simulator } = await startUnit()
    simulator.setFault({ type } as Fault, scope)
    const startedAt = performance.now()
    const thrown = await caught(dsqd.listDevices(linkTo(simulator.baseUrl, { timeout: 1 }).link))
    expect(thrown).toBeInstanceOf(LectrosonicsApiError)
    expect(thrown).toMatchObject({ message: expect.stringMatching(says) })
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(2_500))
  })
})

test('a conversation that is kept open ends with an error when the device falls silent, or goes', async () => {
  for (const lose of ['hang', 'close-links', 'off'] as const) {
    const { simulator, showId } = await startUnit()
    const events = follow(linkTo(simulator.baseUrl, { timeout: 1 }), new AbortController().signal)
    await findTold(events, () => true)
    if (lose === 'off') simulator.show.set(showId, { online: false })
    else simulator.setFault({ type: lose })
    expect(await caught(findTold(events, () => false))).toBeInstanceOf(LectrosonicsApiError)
  }
})

test('it is asked no faster than its pace allows', async () => {
  const { simulator } = await startUnit()
  const pace = { calls_per_second: 200, burst: 10 }
  await dsqd.listDevices(linkTo(simulator.baseUrl, pace).link)
  const times = simulator.requests.entries.map(({ at }) => at)
  expect(times.length).toBeGreaterThan(2 * pace.burst)
  for (const [first, from] of times.entries()) {
    for (const [more, to] of times.slice(first).entries()) {
      expect(more + 1).toBeLessThanOrEqual(((to - from + 1) / 1000) * pace.calls_per_second + pace.burst)
    }
  }
})

test('another transmitter never goes by the name of the last one', async () => {
  const { simulator, state, showId } = await startUnit()
  const events = follow(linkTo(simulator.baseUrl), new AbortController().signal)
  const seen: (string | null | undefined)[] = []
  const until = (name: string | null | undefined) =>
    findTold(events, ({ channels }) => {
      const transmitter = channels?.[0]?.transmitter
      seen.push(transmitter === null ? null : transmitter?.name)
      return seen.at(-1) === name
    })
  await until(state.channels[0]?.transmitter?.name.slice(0, 15))
  simulator.show.set(showId, { transmitter: false, name: 'Understudy' }, 1)
  await until(null)
  seen.length = 0
  simulator.show.set(showId, { transmitter: true }, 1)
  await until('Understudy')
  expect(seen.filter((name) => name !== null && name !== undefined)).toEqual(['Understudy'])
  await simulator.close()
  await caught(until('nobody'))
})

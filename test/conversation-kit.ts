/**
 * What a form must hold whose device answers for itself over a connection of its own: the checks of plugin-kit.ts, with
 * the numbers they have there, for gear that knows nothing of HTTP.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { plugins } from '../src/manufacturers/index.ts'
import { type Form, getDevices, type Plugin, type PluginConfig, reportHealth } from '../src/manufacturers/plugin.ts'
import type { Observation } from '../src/model/receiver.ts'
import type { Fault } from '../src/simulation/faults.ts'
import type { ShowDevice } from '../src/simulation/show.ts'
import type { Simulator, SimulatorOptions } from '../src/simulation/simulator.ts'
import { createLink, createTurnstile, type Link } from '../src/upstream/link.ts'
import {
  caught,
  change,
  drain,
  find,
  lateMs,
  leastResources,
  nobody,
  quick,
  resources,
  tellsBattery,
  until,
} from './plugin-kit.ts'
import { expectCommonFormat, type Fixture, freeze, readFixtures } from './plugin-kit-fixtures.ts'

export interface ConversationUnderTest {
  readonly plugin: Plugin
  readonly form: Form
  /** Single devices, at the addresses of its `config.devices`. */
  startSimulator(options: SimulatorOptions): Promise<Simulator>
  readonly fixtures: URL
  /** A device that answers as the fixture says; `url` is that of a configuration. */
  serveFixture(fixture: Fixture): Promise<{ readonly url: string; close(): Promise<void> }>
  /** How the form calls a device of the show. */
  readonly idOf: (device: ShowDevice) => string
  /** One part of what it is asked for, that a fault may strike in the middle. */
  readonly middle: string | RegExp
}

const troubles: readonly { fault: Fault; says: RegExp; isLate?: boolean }[] = [
  { fault: { type: 'hang' }, says: /no answer .* within 1 s/, isLate: true },
  { fault: { type: 'drip' }, says: /no answer .* within 1 s/, isLate: true },
  { fault: { type: 'reset' }, says: /closed/ },
  { fault: { type: 'truncated' }, says: /closed/ },
  { fault: { type: 'huge' }, says: /larger than/ },
]

export function describeConversation(about: ConversationUnderTest): void {
  const { plugin, form, startSimulator, fixtures, idOf, middle } = about
  const { ApiError } = plugin.errors
  const open: { close(): unknown }[] = []
  afterEach(async () => {
    for (const one of open.splice(0).toReversed()) await one.close()
  })
  const keep = <T extends { close(): unknown }>(one: T): T => {
    open.push(one)
    return one
  }
  const start = async (options: SimulatorOptions = {}) =>
    keep(await startSimulator({ story: false, pushesPerSecond: 0, receivers: 1, ...options }))
  const linksTo = (config: PluginConfig, turnstile = createTurnstile()): Link[] => {
    const limits = { timeout: 10, calls_per_second: quick.perSecond, burst: quick.burst }
    return plugin.listSources({ ...limits, ...config }).map((source) => {
      expect(source.form).toBe(form)
      return keep(createLink({ settings: source, errors: plugin.errors, turnstile }))
    })
  }
  const linkTo = (config: PluginConfig, turnstile = createTurnstile()): Link => {
    const [link] = linksTo(config, turnstile)
    if (link === undefined) throw new Error('the configuration names no source')
    return link
  }

  test('1: its code is the name of its folder, in the list once, and it has a name', () => {
    expect(fileURLToPath(fixtures)).toMatch(new RegExp(`/manufacturers/${plugin.code}/(.+/)?fixtures/$`))
    expect(plugins.filter(({ code }) => code === plugin.code)).toEqual([plugin])
    expect(plugin.forms).toContain(form)
    expect(plugin.name).not.toBe('')
  })

  test.each(readFixtures(fixtures))(
    '2: fixture $name becomes the common format, twice the same',
    async ({ fixture }) => {
      const server = keep(await about.serveFixture(fixture))
      const devices = await getDevices(form, linkTo({ devices: [server.url] }))
      const observations = devices.map((device) => form.transformDeviceData(freeze(device)))
      for (const observation of observations) expectCommonFormat(observation)
      expect(devices.map((device) => form.transformDeviceData(device))).toEqual(observations)
      expect(observations.map(({ metadata, ...told }) => told)).toEqual(fixture.observations)
    },
  )

  test('3: every device at an address of its own arrives, whole', async () => {
    const simulator = await start({ receivers: 3 })
    const lists = await Promise.all(linksTo(simulator.config).map((link) => getDevices(form, link)))
    const told = lists.flat().map((device) => form.transformDeviceData(device))
    for (const observation of told) expectCommonFormat(observation)
    const devices = simulator.show.devicesAt(simulator.elapsed(), simulator.manufacturer)
    expect(told.map(({ id }) => id).toSorted()).toEqual(devices.map(({ device }) => idOf(device)).toSorted())
    for (const { device, channels } of devices) {
      const one = told.find(({ id }) => id === idOf(device))
      expect(one?.channels?.map(({ channel }) => channel)).toEqual(channels.map(({ channel }) => channel))
    }
  })

  describe('6 and 7: trouble is its ApiError, and checkHealth answers', () => {
    const expectTrouble = async (config: PluginConfig, says: RegExp) => {
      const thrown = await caught(form.listDevices(linkTo(config)))
      expect(thrown).toBeInstanceOf(ApiError)
      expect(thrown).toMatchObject({ message: expect.stringMatching(says) })
      const link = linkTo(config)
      const health = await reportHealth(link, () => form.listDevices(link))
      expect(health).toEqual({ status: 'unhealthy', error: expect.stringMatching(says) })
    }

    describe.each([
      ['from the start', undefined],
      ['in the middle', middle],
    ])('%s', (_, path) => {
      test.each(troubles)('$fault.type', async ({ fault, says, isLate = false }) => {
        const simulator = await start()
        simulator.setFault(fault, path === undefined ? {} : { path })
        const startedAt = performance.now()
        await expectTrouble({ ...simulator.config, ...(isLate && { timeout: lateMs / 1000 }) }, says)
        if (isLate) expect(performance.now() - startedAt).toBeLessThan(2 * lateMs + 500)
        simulator.setFault(null)
        expect((await form.listDevices(linkTo(simulator.config))).devices).toHaveLength(1)
      })
    })

    test('something else that answers there', async () => {
      const simulator = await start()
      simulator.setFault({ type: 'not-json' })
      expect(await caught(form.listDevices(linkTo(simulator.config)))).toBeInstanceOf(ApiError)
    })

    test('nobody there', async () => {
      const simulator = await startSimulator({ receivers: 1 })
      await simulator.close()
      await expectTrouble(simulator.config, /connection refused/)
    })
  })

  test('8: an abort in the middle of any call ends it at once and leaves no timer and no socket', async () => {
    const simulator = await start()
    const link = linkTo(simulator.config)
    const { subscribe } = form
    const calls: [string, (signal: AbortSignal) => Promise<unknown>][] = [
      ['listDevices', (signal) => form.listDevices(link, signal)],
    ]
    if (subscribe) calls.push(['subscribe', (signal) => drain(subscribe(link, nobody, signal))])
    for (const [name, run] of calls) {
      for (const path of [undefined, middle]) {
        const idle = await leastResources()
        const stop = new AbortController()
        simulator.setFault({ type: 'hang' }, path === undefined ? {} : { path })
        const { total } = simulator.requests
        const ended = caught(run(stop.signal)).then((thrown) => ({ thrown, at: performance.now() }))
        await until(() => simulator.requests.total > total)
        await pause(100)
        const abortedAt = performance.now()
        stop.abort()
        const { thrown, at } = await ended
        expect(at - abortedAt, `${name} ends at once`).toBeLessThan(100)
        expect(thrown, name).toBe(name === 'subscribe' ? undefined : stop.signal.reason)
        await until(() => resources() <= idle, `${name} leaves nothing behind`)
      }
    }
  })

  test('9: the declared pace is kept under load, whoever asks', async () => {
    const pace = { perSecond: 200, burst: 20 }
    const simulator = await start()
    const config = { ...simulator.config, calls_per_second: pace.perSecond, burst: pace.burst }
    const turnstile = createTurnstile()
    const links = [linkTo(config, turnstile), linkTo(config, turnstile)]
    await Promise.all(links.map((link) => form.listDevices(link)))
    const times = simulator.requests.entries.map((entry) => entry.at)
    expect(times.length).toBeGreaterThan(pace.burst)
    for (const [first, from] of times.entries()) {
      for (const [more, to] of times.slice(first).entries()) {
        expect(more + 1).toBeLessThanOrEqual(((to - from + 1) / 1000) * pace.perSecond + pace.burst)
      }
    }
  })

  describe.runIf(form.subscribe !== undefined)('10: the conversation that is kept open', () => {
    const follow = async (config: PluginConfig = {}) => {
      const simulator = await start()
      const [state] = simulator.show.devicesAt(0, simulator.manufacturer)
      if (state === undefined) throw new Error('the show has no device')
      const stop = new AbortController()
      const events = form.subscribe?.(linkTo({ ...simulator.config, ...config }), nobody, stop.signal)
      const iterator = events?.[Symbol.asyncIterator]()
      if (iterator === undefined) throw new Error('it cannot subscribe')
      expect((await iterator.next()).value).toEqual({ type: 'open' })
      return { simulator, stop, iterator, device: state.device }
    }

    test('tells who the device is, then what changes; what means nothing is passed over', async () => {
      const { simulator, iterator, device } = await follow()
      const told = await find(iterator, (event) => event.type === 'told' && event.isWhole)
      if (told.type === 'told') expectCommonFormat({ ...told.observation })
      expect(told).toMatchObject({ observation: { id: idOf(device), model_name: device.model } })
      simulator.push.send('no sense')
      simulator.show.set(device.id, change, 1)
      simulator.push.flush()
      const isChange = ({ channels }: Observation) =>
        channels?.some((reading) => reading.channel === 1 && tellsBattery(reading))
      await find(
        iterator,
        (event) => event.type === 'told' && event.observation.id === idOf(device) && isChange(event.observation),
      )
    })

    test('an abort ends it quietly and leaves nothing behind', async () => {
      const idle = await leastResources()
      const { simulator, stop, iterator } = await follow()
      const ended = drain({ [Symbol.asyncIterator]: () => iterator })
      await pause(50)
      stop.abort()
      await ended
      await until(() => simulator.push.links === 0)
      await open.pop()?.close()
      await open.pop()?.close()
      await until(() => resources() <= idle, 'the conversation leaves nothing behind')
    })

    test.each<[string, (simulator: Simulator, showId: string) => void]>([
      ['cut', (simulator) => simulator.setFault({ type: 'close-links' })],
      ['gone', (simulator) => void simulator.close()],
      ['switched off', (simulator, showId) => simulator.show.set(showId, { online: false })],
      ['silent', (simulator) => simulator.setFault({ type: 'hang' })],
    ])('a device that is %s ends it with an error', async (_, lose) => {
      const { simulator, iterator, device } = await follow({ timeout: lateMs / 1000 })
      const ended = caught(drain({ [Symbol.asyncIterator]: () => iterator }))
      await pause(50)
      lose(simulator, device.id)
      expect(await ended).toBeInstanceOf(ApiError)
    })
  })
}

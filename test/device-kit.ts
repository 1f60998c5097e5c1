/**
 * What every form must pass in which a single device tells everything of itself in one conversation: over real sockets,
 * against its own simulator. A form's test calls `describeDevice` for each kind of device and adds what is special.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Form, Plugin, PushEvent } from '../src/manufacturers/plugin.ts'
import type { ChannelReading, Observation } from '../src/model/receiver.ts'
import { createLink, type Link } from '../src/upstream/link.ts'
import { expectCommonFormat, freeze } from './plugin-kit-fixtures.ts'
import { caught, leastResources, resources, until } from './plugin-kit-resources.ts'
import { atEnd } from './scope.ts'
import { timeLimit } from './time-limit.ts'

export interface SimulatedDevice {
  readonly url: string
  /** How many conversations it takes part in. */
  readonly clients: number
  /** `silent`: says nothing; `foreign`: is no such device, and answers all the same. */
  setFault(fault: 'silent' | 'foreign' | 'noise' | null): void
  change(channel: number, change: { readonly name?: string; readonly transmitter?: boolean }): void
  close(): Promise<void>
}

export interface DeviceUnderTest {
  readonly name: string
  readonly plugin: Plugin
  start(): Promise<SimulatedDevice>
}

const pace = { calls_per_second: 1000, burst: 1000 }
const nobody = { ids: () => [], changed: () => new Promise<void>(() => {}) }

export interface DeviceLink {
  readonly form: Form
  readonly link: Link
}

/** The form and the link that the plugin gives this device. */
export function linkToDevice(plugin: Plugin, url: string, config: object = {}): DeviceLink {
  const [source] = plugin.listSources({ ...pace, timeout: 3, ...config, devices: [url] })
  if (source === undefined || 'usual' in source.form) throw new Error(`nothing is found at ${url}`)
  return { form: source.form, link: createLink({ settings: source, errors: plugin.errors }) }
}

export function follow({ form, link }: DeviceLink, signal: AbortSignal): AsyncIterator<PushEvent> {
  const events = form.subscribe?.(link, nobody, signal)
  if (events === undefined) throw new Error('it cannot subscribe')
  return events[Symbol.asyncIterator]()
}

/** The first observation of which this is so. */
export async function findTold(
  events: AsyncIterator<PushEvent>,
  isIt: (observation: Observation) => unknown,
): Promise<Observation> {
  for (;;) {
    const { value, done } = await events.next()
    if (done) throw new Error('the subscription ended')
    if (value.type === 'told' && isIt(value.observation)) return value.observation
  }
}

export function describeDevice({ name, plugin, start: startDevice }: DeviceUnderTest): void {
  const start = async () => {
    const device = await startDevice()
    atEnd(() => device.close())
    return device
  }
  const linkTo = (url: string, config?: object) => {
    const linked = linkToDevice(plugin, url, config)
    atEnd(() => linked.link.close())
    return linked
  }
  const list = async ({ form, link }: DeviceLink, signal?: AbortSignal) => form.listDevices(link, signal)
  const { ApiError } = plugin.errors

  describe(name, () => {
    test.concurrent('is listed whole, in the common format, in one short conversation', async () => {
      const device = await start()
      const linked = linkTo(device.url)
      const { devices, malformed } = await list(linked)
      expect({ devices: devices.length, malformed }).toEqual({ devices: 1, malformed: 0 })
      const observations = devices.map((one) => linked.form.transformDeviceData(freeze(one)))
      for (const observation of observations) expectCommonFormat(observation)
      expect(devices.map((one) => linked.form.transformDeviceData(one))).toEqual(observations)
      expect(observations[0]?.channels?.length).toBeGreaterThan(0)
      expect(linked.form.partsOf(devices[0] as never)).toEqual([])
      await until(() => device.clients === 0, 'the conversation is over')
    })

    test.concurrent('tells all of itself, then what changes; an abort ends it quietly', async () => {
      const device = await start()
      const stop = new AbortController()
      const events = follow(linkTo(device.url), stop.signal)
      expect(await events.next()).toEqual({ value: { type: 'open' }, done: false })
      const first = (await events.next()).value
      expect(first).toMatchObject({ type: 'told', isWhole: true })
      expectCommonFormat(first.observation)
      const ofFirst = ({ channels }: Observation, isIt: (one: ChannelReading) => unknown) =>
        channels?.some((one) => one.channel === 1 && isIt(one))
      device.change(1, { name: 'Else' })
      const told = await findTold(events, (one) => ofFirst(one, ({ name }) => name === 'Else'))
      expect(told.id).toBe(first.observation.id)
      const ended = (async () => {
        while (!(await events.next()).done);
      })()
      stop.abort()
      await ended
      await until(() => device.clients === 0, 'the conversation is over')
    })

    test.concurrent('noise is passed over', async () => {
      const device = await start()
      device.setFault('noise')
      const { devices } = await list(linkTo(device.url))
      for (const one of devices) expectCommonFormat(linkTo(device.url).form.transformDeviceData(one))
    })

    test.concurrent.each(['silent', 'foreign'] as const)(
      '%s: its ApiError, within the time allowed',
      async (fault) => {
        const device = await start()
        device.setFault(fault)
        const startedAt = performance.now()
        const linked = linkTo(device.url, { timeout: 1 })
        const events = follow(linked, new AbortController().signal)
        const [listed, followed] = await Promise.all([caught(list(linked)), caught(events.next())])
        for (const thrown of [listed, followed]) expect(thrown).toBeInstanceOf(ApiError)
        expect(performance.now() - startedAt).toBeLessThan(7_000)
      },
      15_000,
    )

    test.concurrent('nobody there: its ApiError', async () => {
      const device = await start()
      await device.close()
      const linked = linkTo(device.url, { timeout: 1 })
      expect(await caught(list(linked))).toBeInstanceOf(ApiError)
    }, 15_000)

    // Alone: it counts what is open in this process.
    test('an abort at any moment ends it at once and leaves nothing behind', async () => {
      const device = await start()
      for (const afterMs of [0, 3, 40, 250]) {
        const idle = await leastResources()
        const stop = new AbortController()
        const linked = linkTo(device.url)
        const listing = caught(list(linked, stop.signal))
        const following = caught(drain(follow(linked, stop.signal)))
        await pause(afterMs)
        stop.abort('enough')
        const abortedAt = performance.now()
        const [listed, followed] = await Promise.all([listing, following])
        expect(performance.now() - abortedAt, `after ${afterMs} ms`).toBeLessThan(timeLimit(100))
        expect([undefined, 'enough'], `after ${afterMs} ms`).toContain(listed)
        expect(followed, `after ${afterMs} ms`).toBeUndefined()
        await until(() => device.clients === 0 && resources() <= idle, `nothing is left after ${afterMs} ms`)
      }
    }, 15_000)
  })
}

async function drain(events: AsyncIterator<PushEvent>): Promise<void> {
  while (!(await events.next()).done);
}

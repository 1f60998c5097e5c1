import { afterEach, describe, expect, test } from 'vitest'
import { expectCommonFormat } from '../../../test/plugin-kit-fixtures.ts'
import { createLink } from '../../upstream/link.ts'
import type { Interest, PushEvent } from '../plugin.ts'
import { sennheiser } from './index.ts'
import { startMcpSimulator } from './mcp/simulator.ts'
import { startSsc1Simulator } from './ssc1/simulator.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

const keep = <T extends { close(): unknown }>(one: T): T => {
  open.push(one)
  return one
}
const never = new AbortController().signal
const anybody: Interest = { ids: () => [], changed: () => new Promise(() => {}) }

function sourceOf(device: string | object, config: object = {}) {
  const [source] = sennheiser.listSources({ devices: [device], timeout: 1, stream_timeout: 1, ...config })
  if (source === undefined || 'usual' in source.form) throw new Error('it is not known how it speaks')
  const link = keep(createLink({ settings: source, errors: sennheiser.errors }))
  return { form: source.form, link }
}

function follow({ form, link }: ReturnType<typeof sourceOf>, signal = never) {
  const events = form.subscribe?.(link, anybody, signal)
  if (events === undefined) throw new Error('it cannot subscribe')
  const iterator = events[Symbol.asyncIterator]()
  open.push({ close: () => iterator.return?.() })
  return iterator
}

async function find(iterator: AsyncIterator<PushEvent>, isIt: (event: PushEvent) => unknown): Promise<PushEvent> {
  for (;;) {
    const { value, done } = await iterator.next()
    if (done) throw new Error('the subscription ended')
    if (isIt(value)) return value
  }
}

async function drain(iterator: AsyncIterator<PushEvent>): Promise<void> {
  while (!(await iterator.next()).done);
}

// An ew device answers to its own port, which on one address with us it would occupy itself.
const elsewhere = '127.0.0.2'
const kinds = [
  {
    name: 'ew G4',
    id: `mcp:${elsewhere}`,
    start: async (port = 0) => {
      const simulator = keep(await startMcpSimulator({ host: elsewhere, port }))
      return { simulator, change: () => simulator.set({ battery: '30' }) }
    },
  },
  {
    name: 'EW-DX',
    id: 'ssc1:00:1B:66:0A:0B:0C',
    start: async (port = 0) => {
      const simulator = keep(await startSsc1Simulator({ port }))
      return { simulator, change: () => simulator.set({ '/mates/tx1/battery/gauge': 30 }) }
    },
  },
  {
    name: 'Digital 6000',
    id: 'ssc1:00:1B:66:0A:0B:0C',
    start: async (port = 0) => {
      const simulator = keep(await startSsc1Simulator({ model: 'EM6000', port }))
      return { simulator, change: () => simulator.set({ '/rx1/skx/battery': ['30%', '1:10'] }) }
    },
  },
]

describe.each(kinds)('$name', ({ start, id }) => {
  const has = (battery: number) => (event: PushEvent) =>
    event.type === 'told' && event.observation.channels?.[0]?.transmitter?.battery === battery

  test('its list is the one device, in the common format', async () => {
    const { simulator } = await start()
    const { form, link } = sourceOf(simulator.url)
    const { devices, malformed } = await form.listDevices(link)
    const seen = devices.map((device) => form.transformDeviceData(device))
    expect(malformed).toBe(0)
    expect(seen).toMatchObject([{ id, online: true }])
    expect(seen[0]?.channels?.[0]).toMatchObject({ channel: 1, transmitter: { battery: expect.any(Number) } })
    for (const observation of seen) expectCommonFormat(observation)
  })

  test('what it tells comes out, what means nothing is passed over, the goodbye ends what was subscribed', async () => {
    const { simulator, change } = await start()
    const stop = new AbortController()
    const iterator = follow(sourceOf(simulator.url), stop.signal)
    expect((await iterator.next()).value).toEqual({ type: 'open' })
    expect(await find(iterator, ({ type }) => type === 'told')).toMatchObject({ isWhole: true, observation: { id } })
    simulator.say('no sense\r')
    await find(iterator, ({ type }) => type === 'ignored')
    change()
    await find(iterator, has(30))
    const ended = drain(iterator)
    stop.abort()
    await ended
    await expect.poll(() => simulator.subscriptions).toBe(0)
  })

  test('a third of all datagrams may be lost, and all may be late', async () => {
    const { simulator, change } = await start()
    simulator.datagrams.trouble.losesEvery = 3
    simulator.datagrams.trouble.lateMs = 150
    const iterator = follow(sourceOf(simulator.url, { timeout: 20, stream_timeout: 15 }))
    await find(iterator, ({ type }) => type === 'told')
    change()
    await find(iterator, has(30))
  })

  test('silence is a loss, for a list and for a subscription', async () => {
    const { simulator } = await start()
    const source = sourceOf(simulator.url)
    const iterator = follow(source)
    await find(iterator, ({ type }) => type === 'told')
    simulator.datagrams.trouble.isSilent = true
    await expect(drain(iterator)).rejects.toThrow(/fell silent/)
    await expect(source.form.listDevices(source.link)).rejects.toThrow(/no answer|fell silent/)
    await expect(source.form.listDevices(source.link)).rejects.toBeInstanceOf(sennheiser.errors.ApiError)
  })

  test('a port where nobody listens is refused; once somebody does, it is heard', async () => {
    const { simulator } = await start()
    const source = sourceOf(simulator.url)
    await simulator.close()
    await expect(source.form.listDevices(source.link)).rejects.toThrow(/connection refused/)
    await start(simulator.datagrams.port)
    expect((await source.form.listDevices(source.link)).devices).toHaveLength(1)
  })

  test('an abort ends a list at once, with its reason', async () => {
    const { simulator } = await start()
    simulator.datagrams.trouble.isSilent = true
    const stop = new AbortController()
    const reason = new Error('enough')
    const { form, link } = sourceOf(simulator.url)
    const listed = form.listDevices(link, stop.signal)
    setTimeout(() => stop.abort(reason), 50)
    await expect(listed).rejects.toBe(reason)
    await expect(form.listDevices(link, stop.signal)).rejects.toBe(reason)
  })
})

describe('ew G4', () => {
  test('many answer to one port of ours, each is heard for itself', async () => {
    const first = keep(await startMcpSimulator({ host: '127.0.0.2', state: { name: 'ONE' } }))
    const second = keep(
      await startMcpSimulator({ host: '127.0.0.3', port: first.datagrams.port, state: { name: 'TWO' } }),
    )
    const iterators = [first, second].map(({ url }) => follow(sourceOf(url)))
    const names = iterators.map(async (iterator) => {
      for (let told = 0; ; told += 1) {
        const event = await find(iterator, ({ type }) => type === 'told')
        if (told > 2) return event.type === 'told' && event.observation.name
      }
    })
    expect(await Promise.all(names)).toEqual(['ONE', 'TWO'])
  })

  test('a subscription that the device forgets while muted is asked for again', async () => {
    const simulator = keep(await startMcpSimulator({ host: '127.0.0.2', dropsWhileMuted: true }))
    const iterator = follow(sourceOf(simulator.url, { stream_timeout: 15 }))
    await find(iterator, ({ type }) => type === 'told')
    simulator.set({ isTxMuted: true })
    await expect.poll(() => simulator.subscriptions).toBe(0)
    simulator.set({ isTxMuted: false, battery: '30' })
    await find(
      iterator,
      (event) => event.type === 'told' && event.observation.channels?.[0]?.transmitter?.battery === 30,
    )
    // Within the eight seconds after which a subscription is renewed.
  }, 12_000)

  test('an SR tells its name, its frequency and its audio', async () => {
    const simulator = keep(await startMcpSimulator({ host: '127.0.0.2', kind: 'SR', state: { name: 'IEM 1' } }))
    const { form, link } = sourceOf(simulator.url)
    const [device] = (await form.listDevices(link)).devices
    expect(device && form.transformDeviceData(device)).toMatchObject({
      name: 'IEM 1',
      device_type: 'ew-iem',
      channels: [{ frequency: '606.200', audio_level: -20 }],
    })
  })
})

describe('SSC 1', () => {
  test.each([
    ['EWDXEM2', 2],
    ['EWDXEM4', 4],
    ['EM6000', 2],
    ['CHG70N', 0],
  ] as const)('an %s has %i channels', async (model, count) => {
    const simulator = keep(await startSsc1Simulator({ model }))
    const { form, link } = sourceOf({ url: simulator.url, name: 'By the door' })
    const [device] = (await form.listDevices(link)).devices
    expect(device && form.transformDeviceData(device).channels).toHaveLength(count)
  })

  test('a transmitter goes and comes', async () => {
    const simulator = keep(await startSsc1Simulator())
    const iterator = follow(sourceOf(simulator.url))
    const transmitterIs = (is: 'there' | 'gone') => (event: PushEvent) => {
      const [channel] = event.type === 'told' ? (event.observation.channels ?? []) : []
      return is === 'gone' ? channel?.transmitter === null : channel?.transmitter?.battery === 55
    }
    await find(iterator, ({ type }) => type === 'told')
    simulator.link(1, false)
    await find(iterator, transmitterIs('gone'))
    simulator.set({ '/mates/tx1/battery/gauge': 55 })
    simulator.link(1, true)
    await find(iterator, transmitterIs('there'))
  })

  test('a device that has all the clients it takes says so', async () => {
    const simulator = keep(await startSsc1Simulator({ mostClients: 0 }))
    await expect(drain(follow(sourceOf(simulator.url)))).rejects.toThrow(/refuses the subscription \(406/)
  })

  test('legacy access that is off is silence', async () => {
    const simulator = keep(await startSsc1Simulator())
    simulator.datagrams.trouble.isSilent = true
    await expect(drain(follow(sourceOf(simulator.url)))).rejects.toThrow(/no answer|fell silent/)
  })
})

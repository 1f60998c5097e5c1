import { afterEach, expect, test } from 'vitest'
import { describeConversation } from '../../../test/conversation-kit.ts'
import { serveLines } from '../../../test/plugin-kit-server.ts'
import type { TransmitterReading } from '../../model/receiver.ts'
import { createLink } from '../../upstream/link.ts'
import type { PushEvent } from '../plugin.ts'
import { dsqd } from './dsqd.ts'
import { lectrosonics } from './index.ts'
import { startLectrosonicsSimulator } from './simulator.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

function linkTo(config: Readonly<Record<string, unknown>>) {
  const [source] = lectrosonics.listSources({ calls_per_second: 1000, burst: 1000, ...config })
  if (source === undefined) throw new Error('no source')
  const link = createLink({ settings: source, errors: lectrosonics.errors })
  open.push(link)
  return link
}

describeConversation({
  plugin: lectrosonics,
  form: dsqd,
  startSimulator: startLectrosonicsSimulator,
  fixtures: new URL('./fixtures/', import.meta.url),
  serveFixture: ({ answers }) => serveLines({ answers, questionEnd: '\r', answerEnd: '\r\n', otherwise: 'ERROR' }),
  idOf: ({ serial_number }) => `dsqd:${serial_number}`,
  middle: /chstat/,
})

test('an address is a device at its command port, and nothing else is', () => {
  const [source] = lectrosonics.listSources({ devices: ['tcp://10.0.0.5'] })
  expect(source).toMatchObject({ baseUrl: 'tcp://10.0.0.5:4080', form: dsqd })
  expect(() => lectrosonics.listSources({ devices: ['http://10.0.0.5'] })).toThrow(/devices: .*tcp:\/\//)
})

test('something else at that port is no device', async () => {
  const server = await serveLines({ answers: {}, questionEnd: '\r', answerEnd: '\r\n', otherwise: 'HELLO' })
  open.push(server)
  await expect(dsqd.listDevices(linkTo({ devices: [server.url] }))).rejects.toThrow(/answers, but is no DSQD/)
})

test('another transmitter never goes by the name of the last one', async () => {
  const simulator = await startLectrosonicsSimulator({ receivers: 1, story: false })
  open.push(simulator)
  const stop = new AbortController()
  open.push({ close: () => stop.abort() })
  const [state] = simulator.show.devicesAt(0)
  const showId = state?.device.id ?? ''
  const first = state?.channels[0]?.transmitter?.name.slice(0, 15)
  const nobody = { ids: () => [], changed: () => new Promise<void>(() => {}) }
  const events = dsqd.subscribe?.(linkTo(simulator.config), nobody, stop.signal)[Symbol.asyncIterator]()
  if (events === undefined) throw new Error('it cannot subscribe')
  const next = async (isIt: (transmitter: TransmitterReading | null | undefined) => boolean) => {
    for (;;) {
      const { value } = (await events.next()) as { value: PushEvent }
      if (value.type !== 'told') continue
      const transmitter = value.observation.channels?.[0]?.transmitter
      if (isIt(transmitter)) return transmitter
    }
  }
  await next((transmitter) => transmitter?.name === first)
  simulator.show.set(showId, { transmitter: false, name: 'Understudy' }, 1)
  await next((transmitter) => transmitter === null)
  simulator.show.set(showId, { transmitter: true }, 1)
  expect((await next((transmitter) => transmitter !== null))?.name ?? 'Understudy').toBe('Understudy')
  await next((transmitter) => transmitter?.name === 'Understudy')
})

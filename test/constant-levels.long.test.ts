/** Levels that stay the same for longer than levels are valid, on systems that push only changes. */

import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { channelOf, configFor, deviceOf, startApp, startSennheiser, startShure, until } from './support/app.ts'

const systems = [
  ['a WebSocket', startShure, (device_id: string, fields: object) => ({ type: 'device_update', device_id, ...fields })],
  ['an event stream', startSennheiser, (id: string, fields: object) => ({ [`/api/v1/devices/${id}`]: fields })],
] as const

/** Longer than polled levels are valid, with one poll a second. */
const polls = 45

// Conformance: C-22.2.
it.concurrent.each(systems)('constant levels over %s stay known', async (_, start, toMessage) => {
  const simulator = await start({ receivers: 1, pushesPerSecond: 0 })
  const device = deviceOf(simulator)
  simulator.show.set(device.id, { battery: 90, rf_level: -50, audio_level: -20 }, 1)
  simulator.show.set(device.id, { battery: 80, rf_level: -50, audio_level: -20 }, 2)
  const app = await startApp({ manufacturers: [configFor(simulator, { poll_interval: 1 })] })
  const read = async (number: number) => {
    const { rf_level, audio_level, condition } = channelOf(await app.receiver(device.id), number)
    return { rf_level, audio_level, flags: [condition?.state, ...(condition?.flags ?? [])] }
  }
  await until('the levels are known', async () => (await read(1)).rf_level === -50)
  await until('the subscription is connected', () => simulator.push.connections === 1)
  const lists = () => simulator.requests.count('/api/v1/devices', 'GET')
  const connected = lists() + 2
  await until('the levels were read since then', () => lists() >= connected)
  const push = (channel: number, rf_level: number) =>
    simulator.push.send(JSON.stringify(toMessage(device.id, { channels: [{ channel, rf_level, audio_level: -20 }] })))
  push(1, -41)
  push(2, -51)
  await until('the pushed levels are known', async () => (await read(2)).rf_level === -51)

  const last = lists() + polls
  // The second channel is pushed all the time. Its levels in the list are older.
  const levels = new Set<number | null>()
  await until(
    `${polls} more lists were requested`,
    async () => {
      push(2, -51)
      await pause(200)
      levels.add((await read(2)).rf_level)
      return lists() >= last
    },
    90_000,
  )
  expect([...levels]).toEqual([-51])
  for (const number of [1, 2]) expect((await read(number)).flags).not.toContain('no_levels')
  expect(await read(1)).toMatchObject({ rf_level: -50, audio_level: -20 })
  const { json } = await app.get('/api/alerts/')
  expect(json.filter(({ kind }: { kind: string }) => kind === 'levels_lost')).toEqual([])
})

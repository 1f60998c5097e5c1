/** Levels on their way from a device's socket to the stored history. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { noValue, type StateLetter, stateLetters } from '../src/domain/history/columns.ts'
import { listChannelStatesAt } from '../src/storage/channel-states.ts'
import type { TestApp } from './app.ts'
import { configFor, deviceOf, startApp, startShure, until, withoutPush } from './app.ts'
import { createTestDatabase, engines } from './databases.ts'
import { tokenHeaders } from './tokens.ts'

async function readSeconds({ runtime }: Pick<TestApp, 'runtime'>, channelId: number) {
  await runtime.history.flush()
  const range = await runtime.history.levels.range()
  if (range === null) return []
  const { columns, count } = await runtime.history.levels.read([channelId], range.first, range.last, 1)
  const valueOf = (name: keyof typeof columns, step: number) => {
    const value = columns[name][step] ?? noValue
    return value === noValue ? null : value
  }
  return Array.from({ length: count }, (_, step) => ({
    time: range.first + step,
    letter: stateLetters[columns.state[step] ?? 0] as StateLetter,
    rf_min: valueOf('rf_min', step),
    rf_max: valueOf('rf_max', step),
    battery: valueOf('battery', step),
  }))
}

describe.each(engines)('recording (%s)', (engine) => {
  it('records what data.json shows, and what is true besides the levels', async () => {
    const database = await createTestDatabase(engine)
    onTestFinished(database.drop)
    const simulator = withoutPush(await startShure())
    const { id } = deviceOf(simulator)
    const app = await startApp({ manufacturers: [configFor(simulator)], databaseUrl: database.url })
    await until('the device is known', () => app.receiver(id))
    const channel = (await app.receiver(id)).channels[0]
    simulator.show.set(id, { battery: 33, rf_level: -91 }, 1)
    const recorded = await until('the level is recorded', async () => {
      const seconds = await readSeconds(app, channel.id)
      return seconds.find(({ rf_min, battery, letter }) => rf_min === -91 && battery === 33 && letter === '1')
    })
    expect(Math.abs(recorded.time - Date.now() / 1000)).toBeLessThan(30)
    const states = await until('the state is stored', async () => {
      const states = await listChannelStatesAt(app.runtime.db.read, Date.now())
      return states.some(({ channel_id }) => channel_id === channel.id) ? states : undefined
    })
    expect(states.find(({ channel_id }) => channel_id === channel.id)?.state).toMatchObject({
      name: channel.name,
      frequency: channel.frequency,
      transmitter: { name: channel.transmitter.name },
      condition: { attention: false },
    })
  })
})

it('stops at once while HISTORY is false', async () => {
  const simulator = withoutPush(await startShure())
  const { id } = deviceOf(simulator)
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  await until('the device is known', () => app.receiver(id))
  const channel = (await app.receiver(id)).channels[0]
  await until('a second is recorded', async () => (await readSeconds(app, channel.id)).length > 0)
  const admin = await tokenHeaders(app.runtime, 'admin')
  await app.post('/api/config/', { key: 'HISTORY', value: 'false' }, admin)
  const before = await until('the last second is stored', async () => {
    const last = (await app.runtime.history.levels.range())?.last ?? 0
    return last >= Math.floor(Date.now() / 1000) - 1 ? last : undefined
  })
  await until('two seconds have passed', () => Date.now() / 1000 > before + 2)
  await app.runtime.history.flush()
  expect((await app.runtime.history.levels.range())?.last).toBe(before)
})

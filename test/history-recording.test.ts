/** Levels on their way from a device's socket to the stored history. */

import { describe, expect, it, onTestFinished } from 'vitest'
import type { AlertBody } from '../src/contract/alerts.ts'
import type { ChannelBody } from '../src/contract/channels.ts'
import { now } from '../src/platform/clock.ts'
import { listChannelStatesAt } from '../src/storage/channel-states.ts'
import { configFor, deviceOf, startApp, startShure, until, withoutPush } from './support/app.ts'
import { failRecording, storedLevels } from './support/internals.ts'
import { readSeconds } from './support/recorded-seconds.ts'
import { createTestDatabase, engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

describe.each(engines)('recording (%s)', (engine) => {
  // Conformance: C-12.20, C-12.27.
  it('records the levels and states that data.json shows', async () => {
    const database = await createTestDatabase(engine)
    onTestFinished(database.drop)
    const simulator = withoutPush(await startShure())
    const { id } = deviceOf(simulator)
    const app = await startApp({ manufacturers: [configFor(simulator)], isRecording: true, databaseUrl: database.url })
    await until('the device is known', () => app.receiver(id))
    const channel = (await app.receiver(id)).channels[0] as ChannelBody
    const changedAt = now() / 1000
    simulator.show.set(id, { battery: 33, rf_level: -61 }, 1)
    const recorded = await until('the level is recorded', async () => {
      const seconds = await readSeconds(await storedLevels(app), channel.id)
      return seconds.find(({ rf_min, battery, letter }) => rf_min === -61 && battery === 33 && letter === '1')
    })
    expect(recorded.time).toBeGreaterThanOrEqual(Math.floor(changedAt))
    expect(recorded.time).toBeLessThanOrEqual(now() / 1000)
    const states = await until('the state is stored', async () => {
      const states = await withDatabase(app, (db) => listChannelStatesAt(db.read, now()))
      return states.some(({ channel_id }) => channel_id === channel.id) ? states : undefined
    })
    expect(states.find(({ channel_id }) => channel_id === channel.id)?.state).toMatchObject({
      name: channel.name,
      frequency: channel.frequency,
      transmitter: { name: channel.transmitter?.name },
      condition: { attention: false },
    })
  })
})

// Conformance: C-12.26.
it('stops at once while HISTORY is false', async () => {
  const simulator = withoutPush(await startShure())
  const { id } = deviceOf(simulator)
  const app = await startApp({ manufacturers: [configFor(simulator)], isRecording: true })
  await until('the device is known', () => app.receiver(id))
  const channel = (await app.receiver(id)).channels[0] as ChannelBody
  await until(
    'a second of the channel is recorded',
    async () => (await readSeconds(await storedLevels(app), channel.id)).length > 0,
  )
  const admin = await tokenHeaders(app, 'admin')
  await app.post('/api/config/', { key: 'HISTORY', value: 'false' }, admin)
  const offAt = Math.floor(now() / 1000)
  await until('three seconds have passed', () => now() / 1000 > offAt + 3)
  const range = await (await storedLevels(app)).range()
  expect(range?.last).toBeLessThanOrEqual(offAt + 1)
})

// Conformance: C-12.24.
it('raises recording_stopped while levels cannot be recorded', async () => {
  const app = await startApp()
  const findAlert = async () => {
    const { json: alerts } = await app.get('/api/alerts/')
    return (alerts as readonly AlertBody[]).find(({ kind }) => kind === 'recording_stopped')
  }
  failRecording(app, 'the disk is full')
  const alert = await until('the alert is raised', findAlert)
  const message = 'The recording of levels has stopped: the disk is full'
  expect(alert).toMatchObject({ state: 'raised', severity: 'warning', receiver_id: null, message })
  expect((await app.post(`/api/alerts/${alert.id}/acknowledge`, {})).status).toBe(200)
  failRecording(app, null)
  await until('the alert is cleared', async () => (await findAlert())?.state === 'cleared')
})

// Conformance: C-12.23.
it('reports after a restart that a gap began because recording failed', async () => {
  const database = await createTestDatabase('sqlite')
  onTestFinished(database.drop)
  const simulator = withoutPush(await startShure())
  const { id } = deviceOf(simulator)
  const start = () => startApp({ manufacturers: [configFor(simulator)], isRecording: true, databaseUrl: database.url })
  const before = await start()
  await until('the device is known', () => before.receiver(id))
  const end = await until('a second is recorded', async () => (await (await storedLevels(before)).range())?.last)
  failRecording(before, 'the disk is full')
  await until('the alert is raised', async () =>
    ((await before.get('/api/alerts/')).json as readonly AlertBody[]).some(({ kind }) => kind === 'recording_stopped'),
  )
  await before.close()
  await until('a gap has passed', () => now() / 1000 > end + 5)
  const after = await start()
  const gap = await until('the gap is reported', async () => {
    await storedLevels(after)
    const { json } = await after.get('/api/events/?kind=recording_gap')
    return (json as { readonly results: readonly { readonly data: unknown }[] }).results[0]
  })
  expect(gap.data).toMatchObject({ reason: 'storage' })
})

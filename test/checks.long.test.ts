/** The walk test: levels and dropouts of a channel since its check began, also after a restart. */

import { expect, it } from 'vitest'
import { startApp, type TestApp, until } from './support/app.ts'
import { checkOf, startCheckedSystem } from './support/checked-system.ts'
import { tokenHeaders } from './support/tokens.ts'

// Conformance: C-13.24, C-13.25, C-13.26, C-21.106.
it('shows the lowest RF level, dropouts and audio since the check of the channel began', async () => {
  const { config, set, channelsOf } = await startCheckedSystem()
  const app = await startApp({ ...config, isRecording: true })
  const [first] = await channelsOf(app)
  const { id } = (await app.post('/api/shows/', { title: 'Matinee' })).json
  await app.post(`/api/shows/${id}/start`, undefined)
  set({ rf_level: -78, audio_level: -90, frequency: '611.500' })
  await until('a weaker second is recorded before the check', async () => {
    const { sees } = await checkOf(app, id, first)
    return sees.frequency === '611.500' && sees
  })
  set({ rf_level: -52 })
  await until(
    'the level is that of the check',
    async () => (await app.receivers())[0]?.channels[0]?.transmitter?.rf_level === -52,
  )
  await app.post(`/api/shows/${id}/checks/begin`, { channel_id: first })
  const quiet = await until('a second is recorded', async () => {
    const { sees } = await checkOf(app, id, first)
    return sees.rf_lowest !== null && sees
  })
  expect(quiet).toMatchObject({
    transmitter_on: true,
    battery: 80,
    minutes_left: null,
    lasts: null,
    rf_lowest: -52,
    dropouts: 0,
    audio_heard: false,
    frequency: '611.500',
    frequency_planned: '610.000',
  })
  set({ rf_level: -97, audio_level: -12 })
  await until('the weak second is recorded', async () => (await checkOf(app, id, first)).sees.rf_lowest === -97)
  set({ rf_level: -50, audio_level: -90 })
  const walked = await until('the dropout is recorded', async () => {
    const check = await checkOf(app, id, first)
    return check.sees.dropouts === 1 && check
  })
  expect(walked.sees).toMatchObject({ rf_lowest: -97, audio_heard: true })
  await app.post(`/api/shows/${id}/checks/`, { channel_id: first, result: 'pass' })
  const next = await restart(app, config)
  const report = (await next.get(`/api/shows/${id}/check-report/`)).json
  expect(report.slots[0]).toMatchObject({ battery: 80, rf_lowest: -97, dropouts: 1, result: 'pass' })
  expect(await checkOf(next, id, first)).toMatchObject({
    began_at: walked.began_at,
    sees: { rf_lowest: -97, dropouts: 1, audio_heard: true },
  })
  const admin = await tokenHeaders(next, 'admin')
  await next.post('/api/config/', { key: 'HISTORY', value: 'false' }, admin)
  expect((await checkOf(next, id, first)).sees).toMatchObject({ rf_lowest: null, dropouts: 1 })
  await next.post(`/api/shows/${id}/checks/begin`, { channel_id: first })
  expect((await checkOf(next, id, first)).sees).toMatchObject({ rf_lowest: null, dropouts: 0 })
})

/** Closes the service, and starts another process with its database. */
async function restart(app: TestApp, config: object): Promise<TestApp> {
  await app.close()
  return startApp({ ...config, databaseUrl: app.databaseUrl, dataDir: app.dataDir, isRecording: true })
}

/** Faults in the sound of channels: their events and alerts. */

import { expect, it } from 'vitest'
import { now } from '../src/platform/clock.ts'
import { configFor, startApp, startShure, until } from './support/app.ts'

// Conformance: C-27.92.
it('dropouts and clipping are events, and alerts that are off by default', async () => {
  const simulator = await startShure({ receivers: 1 })
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  const [{ channels }] = await until('the receiver is known', async () => {
    const { receivers } = (await app.get('/api/data.json')).json
    return receivers.length > 0 && receivers
  })
  const id: number = channels[0].id
  const { events } = app.service
  const eventsOf = async (kind: string) => (await app.get(`/api/events/?kind=${kind}`)).json.results
  const openAlerts = async () => (await app.get('/api/alerts/?state=open')).json
  const from = now() - 3000
  events.audioFaultChanged(id, 'audio_clipping', { from, until: null })
  const [clipping] = await until('the event is stored', async () => {
    const found = await eventsOf('audio_clipping')
    return found.length > 0 && found
  })
  expect(clipping).toMatchObject({ channel_id: id, severity: 'info', until: null, data: { open: true } })
  expect((await openAlerts()).filter(({ kind }: { kind: string }) => kind === 'audio_clipping')).toEqual([])

  await app.post('/api/config/', { key: 'alert_audio_dropout_enabled', value: 'true' })
  const data = { confirmed_by: 'rf' } as const
  events.audioFaultChanged(id, 'audio_dropout', { from: from + 1000, until: null, data })
  const alert = await until('the alert is raised', async () =>
    (await openAlerts()).find(({ kind }: { kind: string }) => kind === 'audio_dropout'),
  )
  expect(alert).toMatchObject({ channel_id: id, severity: 'warning', data: { confirmed_by: 'rf' } })
  expect(alert.message).toMatch(/: the sound broke off while RF was weak$/)
  events.audioFaultChanged(id, 'audio_dropout', { from: from + 1000, until: from + 3000, data })
  const dropout = await until('the dropout has ended', async () => {
    const [event] = await eventsOf('audio_dropout')
    return event.until !== null && event
  })
  expect(dropout).toMatchObject({ channel_id: id, severity: 'warning', data: { confirmed_by: 'rf' } })
  expect(dropout.data.seconds).toBe(2)

  events.audioEnded(id)
  await until('clipping has ended', async () => (await eventsOf('audio_clipping'))[0].until !== null)
})

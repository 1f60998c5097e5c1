/** The crew sheet, through the complete service. */

import { expect, it } from 'vitest'
import { configFor, startApp, startShure, until, withoutPush } from './support/app.ts'
import { addShow } from './support/recorded-show.ts'
import { tokenHeaders } from './support/tokens.ts'

async function startWithCast() {
  const shure = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 4, story: false }))
  const app = await startApp({ manufacturers: [configFor(shure)] })
  const channels = await until('the channels are known', async () => {
    const found = (await app.receivers())[0]?.channels
    return found?.length === 4 && found
  })
  const units = (await app.get('/api/units/')).json as readonly { id: number; slot: number }[]
  const assign = async (index: number, name: string, fields: object) => {
    const unit = units.find(({ slot }) => slot === channels[index]?.slot)
    const performer = await app.post('/api/performers/', { name, notes: `${name} notes` })
    const assignment = { performer: performer.json.id, wireless_unit: unit?.id, is_active: true, ...fields }
    expect((await app.post('/api/assignments/', assignment)).status).toBe(201)
  }
  await assign(0, '=Nora', { role: 'Sally, "Bowles"' })
  await assign(1, 'Ada', {})
  return { app, channels }
}

// Conformance: C-13.54.
it('lists channels and placeholders by slot, with performers, roles, packs, frequencies and groups', async () => {
  const { app, channels } = await startWithCast()
  const [first, second, third, fourth] = channels
  const wired = { slot: 500, name: 'Grand piano', kind: 'wired', frequency: '512.125' }
  expect((await app.post('/api/placeholders/', wired)).status).toBe(201)
  expect((await app.post('/api/placeholders/', { slot: 501, name: '', kind: 'blank' })).status).toBe(201)
  await app.post('/api/group/', { title: 'Act 1', slots: [first?.slot, 500] })
  await app.post('/api/group/', { title: 'Cast', slots: [first?.slot] })
  const { status, headers, bytes } = await app.get('/api/crew-sheet.csv')
  expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8'])
  const frequencyOf = (channel: typeof first) => channel?.transmitter?.frequency ?? channel?.frequency
  const packOf = (channel: typeof first) => channel?.transmitter?.name
  expect(bytes.toString().split('\r\n')).toEqual([
    '\uFEFFslot,name,role,pack,frequency,group',
    `${first?.slot},'=Nora,"Sally, ""Bowles""",${packOf(first)},${frequencyOf(first)},"Act 1; Cast"`,
    `${second?.slot},Ada,Ada notes,${packOf(second)},${frequencyOf(second)},`,
    `${third?.slot},${third?.name ?? ''},,${packOf(third) ?? ''},${frequencyOf(third)},`,
    `${fourth?.slot},${fourth?.name ?? ''},,${packOf(fourth) ?? ''},${frequencyOf(fourth)},`,
    '500,Grand piano,,,512.125,Act 1',
    '501,,,,,',
    '',
  ])
  const { json } = await app.get('/api/crew-sheet/')
  expect([json.show, json.rows.length, json.rows[0].groups]).toEqual([null, 6, ['Act 1', 'Cast']])
})

// Conformance: C-13.55.
it('lists only the channels of a show', async () => {
  const { app, channels } = await startWithCast()
  const [first, second, third] = channels
  await app.post('/api/placeholders/', { slot: 500, name: 'Piano', kind: 'wired' })
  await app.post('/api/placeholders/', { slot: 501, name: 'Bass', kind: 'wired' })
  const group = (await app.post('/api/group/', { title: 'Act 1', slots: [third?.slot, 501] })).json
  const { id } = (await app.post('/api/shows/', { title: 'Cabaret', group_ids: [group.id] })).json
  const slotsOf = async (show: number | string) =>
    (await app.get(`/api/crew-sheet/?show=${show}`)).json.rows.map(({ slot }: { slot: number }) => slot)
  expect(await slotsOf(id)).toEqual([third?.slot, 501])
  expect((await app.get(`/api/crew-sheet.csv?show=${id}`)).bytes.toString().split('\r\n')).toHaveLength(4)
  const times = { started_at: 1000, ended_at: 2000 }
  const ended = await addShow(app, { ...times, channel_ids: [first?.id ?? 0, second?.id ?? 0] })
  expect(await slotsOf(ended.id)).toEqual([first?.slot, second?.slot, 500, 501])
  expect(await slotsOf('')).toHaveLength(6)
  for (const path of ['crew-sheet/', 'crew-sheet.csv']) {
    expect((await app.get(`/api/${path}?show=${ended.id + 1}`)).status).toBe(404)
    expect((await app.get(`/api/${path}?show=x`)).status).toBe(400)
  }
})

// Conformance: C-13.54.
it('is only a heading without channels, and can be read by viewers', async () => {
  const app = await startApp({ config: { require_login: true } })
  expect((await app.get('/api/crew-sheet.csv')).status).toBe(401)
  const viewer = await tokenHeaders(app, 'viewer')
  const { status, bytes } = await app.get('/api/crew-sheet.csv', viewer)
  expect([status, bytes.toString()]).toEqual([200, '\uFEFFslot,name,role,pack,frequency,group\r\n'])
})

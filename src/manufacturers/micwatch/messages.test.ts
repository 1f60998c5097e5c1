import { expect, it } from 'vitest'
import { readEvents, readMessage } from './adapter.ts'
import { Dropped } from './reader.ts'

const since = '2026-05-01T18:00:00.000Z'
const condition = { state: 'ok', severity: 'ok', attention: false, since, flags: [] }
const channel = { id: 11, channel: 1, slot: 4, name: 'Nora', frequency: '500.100', rf_level: -60, audio_level: -20 }
const receiver = {
  ...{ id: 1, name: 'Rack 1', device_type: 'ulxd', model: 'ULXD4', ip: '10.9.0.1', is_active: true },
  ...{ manufacturer: 'shure', site: null, channels: [{ ...channel, transmitter: null, condition }] },
}
const alert = {
  ...{ id: 7, kind: 'rf_weak', severity: 'warning', state: 'raised', message: 'RF weak', manufacturer: 'shure' },
  ...{ receiver_id: 1, channel_id: 11, data: {}, raised_at: since, silenced: false, site: null },
}

function snapshot(data: object) {
  const body = { receivers: [receiver], alerts: [], shows: [], sites: [], assignments: [], ...data }
  return { type: 'snapshot', seq: 1, epoch: 'e1', installation: 'i1', via: [], data: body }
}

async function read(message: object) {
  const dropped = new Dropped()
  const found = await readMessage(message as Readonly<Record<string, unknown>>, dropped)
  return { found, count: dropped.count, first: dropped.first }
}

it('reads what is used of a message, and ignores what newer versions add', async () => {
  const added = { ...receiver, sun: 1, channels: [{ ...receiver.channels[0], moon: { x: 1 } }] }
  const { found, count } = await read({ ...snapshot({ receivers: [added], planets: 3 }), stars: [] })
  expect({ found, count }).toEqual({ found: snapshot({}), count: 0 })
  expect(await read({ type: 'comet', seq: 2 })).toEqual({ found: null, count: 0, first: null })
})

it('reads nullable fields that older versions do not have as null', async () => {
  const { found, count } = await read({ type: 'alert', seq: 2, ...alert })
  expect(count).toBe(0)
  expect(found).toMatchObject({ note: null, cleared_at: null, data: { name: null, slot: null } })
})

it.each([
  [
    {
      receivers: [
        { ...receiver, name: { a: 1 } },
        { ...receiver, id: 2 },
      ],
    },
    'receivers.0.name',
    { receivers: [{ id: 1, name: '' }, { id: 2 }] },
  ],
  [{ receivers: [{ ...receiver, manufacturer: [] }] }, 'receivers.0.manufacturer', { receivers: [] }],
  [{ receivers: [receiver, 'x', null] }, 'receivers.1', { receivers: [{ id: 1 }] }],
  [
    {
      shows: [
        { id: 1, title: { toString: 1 } },
        { id: 2, title: 'Matinée' },
      ],
    },
    'shows.0.title',
    { shows: [{ id: 2 }] },
  ],
  [{ alerts: [{ ...alert, raised_at: 'never' }, alert] }, 'alerts.0.raised_at', { alerts: [{ id: 7 }] }],
  [{ alerts: [{ ...alert, raised_at: '9999-12-31T23:59:59-12:00' }] }, 'alerts.0.raised_at', { alerts: [] }],
  [{ alerts: [{ ...alert, severity: 'dire' }] }, 'alerts.0.severity', { alerts: [] }],
  [{ sites: [{ code: { y: 1 }, name: null }] }, 'sites.0.code', { sites: [] }],
  [{ assignments: 'x' }, 'assignments', { receivers: [{ id: 1 }] }],
])('keeps the other records of a list, and says where the first problem is (%#)', async (data, path, kept) => {
  const { found, count, first } = await read(snapshot(data))
  expect(count).toBeGreaterThan(0)
  expect(first).toMatch(new RegExp(`^snapshot\\.data\\.${path}: expected `))
  expect(found).toMatchObject({ data: kept })
})

it('leaves out fields that do not match, and keeps the others', async () => {
  const fields = {
    ...{ name: { x: 1 }, frequency: [1], rf_level: 1e308, audio_level: -20 },
    ...{ condition: { ...condition, state: '__proto__' }, last_transmitter: { name: 'x', last_seen: 'never' } },
  }
  const { found, count } = await read({ type: 'channel', seq: 2, id: 11, receiver_id: 1, ...fields })
  expect(count).toBe(5)
  expect(found).toEqual({
    ...{ type: 'channel', seq: 2, id: 11, receiver_id: 1 },
    ...{ name: null, frequency: null, rf_level: null, audio_level: -20, last_transmitter: null },
  })
  const flags = await read({
    type: 'channel',
    seq: 2,
    id: 11,
    receiver_id: 1,
    condition: { ...condition, flags: [{}, 'muted'] },
  })
  expect(flags.found).toMatchObject({ condition: { flags: ['muted'] } })
})

it('cleans text as in device reports', async () => {
  const name = `\u001b[31mX\r\nSet-Cookie: a=b\u202e${'A'.repeat(2_000_000)}`
  const { found } = await read({ type: 'receiver', seq: 2, id: 1, name, ip: '\u0000' })
  expect(found).toMatchObject({ name: `[31mX Set-Cookie: a=b${'A'.repeat(233)}` })
})

it('limits the number of records', async () => {
  const channels = Array.from({ length: 70 }, (_, index) => ({ ...channel, id: index, channel: index + 1 }))
  const { found, count, first } = await read({ type: 'receiver_added', seq: 2, receiver: { ...receiver, channels } })
  expect(found).toMatchObject({ receiver: { channels: { length: 64 } } })
  expect({ count, first }).toEqual({ count: 6, first: 'receiver_added.receiver.channels.64: expected at most 64' })
})

it('reads levels by their position', async () => {
  const values = [
    [11, -60, -20],
    [12, 'x', 1e99, 80, null, null, null, null, 'AB'],
    ['x'],
    'boo',
    [],
    [13, -50, -10, 1, 2],
  ]
  const { found, count } = await read({ type: 'levels', seq: 2, at: since, values })
  expect(found).toMatchObject({
    values: [
      [11, -60, -20],
      [12, null, null, 80, null, null, null, null, 'AB'],
      [13, -50, -10, 1, 2],
    ],
  })
  expect(count).toBe(5)
})

it('reads only complete pairs of slots', async () => {
  const { found, count } = await read({ type: 'slots', seq: 2, values: [[11], [12, 5], [13, null], [14, 6, 7]] })
  expect(found).toMatchObject({
    values: [
      [12, 5],
      [14, 6],
    ],
  })
  expect(count).toBe(2)
})

it('reads pages of events', () => {
  const event = { id: 5, kind: 'marker', severity: 'info', text: 'Interval', data: { open: true, x: {} }, time: since }
  const dropped = new Dropped()
  const page = readEvents({ results: [event, { ...event, time: 'never' }, { ...event, text: {} }], next: 7 }, dropped)
  expect(page).toMatchObject({ results: [{ id: 5, data: { open: true }, until: null }], next: null })
  expect(dropped.count).toBe(3)
  expect(readEvents('x', dropped)).toBeNull()
})

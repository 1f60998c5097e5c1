/** Messages of a followed site, and mutations of them that a broken, hostile or newer site could send. */

import fc from 'fast-check'

const since = '2026-05-01T18:00:00.000Z'
const ok = { state: 'ok', severity: 'ok', attention: false, since, flags: ['muted'] }
const levels = { frequency: '500.100', audio_level: -20, rf_level: -60 }
const transmitter = {
  ...{ upstream_slot: 1, name: 'Nora', battery: 80, ...levels, details: { model: 'ULXD2', muted: false } },
  forecast: { minutes_left: 90, source: 'device', low: 60, high: 120 },
}
const channel = {
  ...{ id: 11, channel: 1, slot: 4, name: 'Nora', ...levels, transmitter, condition: ok },
  details: { antennas: 'AB', encryption: 'on' },
}
const off = {
  ...{ ...channel, id: 12, channel: 2, slot: 5, name: 'Ben', transmitter: null },
  last_transmitter: { name: 'Ben', battery: 5, minutes_left: 9, last_seen: since },
}
const receiverFields = {
  ...{ name: 'Rack 1', device_type: 'ulxd', model: 'ULXD4D', ip: '10.9.0.1', is_active: true, manufacturer: 'shure' },
  site: { code: 'stage', name: 'Stage' },
}
const receiver = { id: 1, ...receiverFields, channels: [channel, off] }
const data = {
  ...{ name: 'Nora', slot: 4, battery: 9, minutes_left: 12, threshold: 10, receiver: 'Rack 1', rf_level: -90 },
  ...{ title: 'Nora', title_from: 'performer', people: [{ slot: 4, title: 'Nora' }] },
}
const alert = {
  ...{ id: 7, kind: 'battery_low', severity: 'warning', state: 'raised', message: 'Nora: battery at 9%', data },
  ...{ manufacturer: 'shure', receiver_id: 1, channel_id: 11, raised_at: since, silenced: false, site: null },
  ...{ cleared_at: null, acknowledged_at: since, acknowledged_by: 'Ann', note: 'Spare is ready' },
  ...{ snoozed_at: since, snoozed_by: 'Ann', snoozed_until: 'show_end' },
  first: { at: since, kind: 'battery_low', severity: 'warning', message: 'Nora: battery at 10%', data },
}
const event = {
  ...{ id: 5, kind: 'marker', severity: 'info', manufacturer: null, receiver_id: 1, channel_id: 11, by: 'Ann' },
  ...{ text: 'Interval', time: since, until: since, site: null, data: { ...data, from: 1, to: 'x', open: true } },
}
const show = { id: 1, title: 'Matinée', state: 'running' }
const announcedSite = { code: 'stage', name: 'Stage', url: 'https://stage.example', shows: ['Macbeth'] }
const assignments = [
  { channel_id: 11, wireless_unit: 3, performer: { id: 2, name: 'Nora' }, site: { code: 'stage', name: 'Stage' } },
]

const slotRecords = [{ slot: 4, channel_id: 11, title: 'Nora', title_from: 'performer', label: null }]

/** A message of every type, by its type. */
export const followedExamples: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  snapshot: {
    ...{ seq: 1, epoch: 'e1', installation: 'i1', via: ['i2'] },
    data: {
      ...{ receivers: [receiver], alerts: [alert], shows: [show], sites: [announcedSite], assignments },
      slot_records: slotRecords,
    },
  },
  resumed: { seq: 1, epoch: 'e1' },
  receiver: { seq: 2, id: 1, ...receiverFields },
  receiver_added: { seq: 2, receiver: { ...receiver, id: 2 } },
  receiver_removed: { seq: 2, id: 2 },
  channel: { seq: 2, receiver_id: 1, ...channel },
  channel_removed: { seq: 2, receiver_id: 1, id: 12 },
  slots: { seq: 2, values: [[11, 8]] },
  levels: { seq: 2, at: since, values: [[11, -60, -20, 80, -61, -62, null, null, 'AB', -18]] },
  alert: { seq: 2, ...alert },
  show: { seq: 2, show },
  assignments: { seq: 2, assignments },
  slot_records: { seq: 2, slots: slotRecords, removed: [5] },
  site: { seq: 2, ...announcedSite },
  site_removed: { seq: 2, code: 'stage' },
  event: { seq: 2, event },
  event_changed: { seq: 2, event },
  event_deleted: { seq: 2, id: 5 },
  tick: { at: since },
  pong: { id: 1 },
  error: { error: 'Unknown message type.' },
}

const nested = (depth: number): unknown => (depth === 0 ? [] : [{ x: nested(depth - 1) }])
const hostileTexts = [
  ...['', 'never', '__proto__', 'constructor', 'toString', 'javascript:alert(1)', '<img src=x onerror=alert(1)>'],
  ...[
    '\u001b[31mX\r\nSet-Cookie: a=b',
    '\u0000',
    '\u202eabc\u2066',
    '\ud800',
    'A'.repeat(10_000),
    '=1+1',
    '9'.repeat(99),
  ],
  ...['2026-13-01T00:00:00Z', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59-12:00', '9999-12-31T23:59:59Z'],
]
const hostileValues: readonly unknown[] = [
  ...[null, true, [], {}, [null], [[]], [{}], nested(8), Array.from({ length: 2000 }, () => 1), ...hostileTexts],
  ...[0, -1, 0.5, 1e308, -1e308, 2 ** 31, 2 ** 53, 65_536, { toString: 1, toJSON: 1, length: 1e9 }],
]
const hostileValue = fc.oneof(fc.constantFrom(...hostileValues), fc.jsonValue())

interface Change {
  readonly at: number
  readonly how: 'replace' | 'remove' | 'repeat' | 'wrap' | 'add'
  readonly value: unknown
}

const changes = fc.array(
  fc.record<Change>({
    at: fc.nat(),
    how: fc.constantFrom('replace', 'replace', 'remove', 'repeat', 'wrap', 'add'),
    value: hostileValue,
  }),
  { minLength: 1, maxLength: 3 },
)

/** Mutations of the message of a type, as JSON. They keep the type. */
export function mutationsOf(type: string): fc.Arbitrary<string> {
  return changes.map((list) => {
    const body = structuredClone(followedExamples[type] ?? {})
    for (const change of list) mutate(body, change)
    return JSON.stringify({ ...body, type })
  })
}

function mutate(message: object, { at, how, value: original }: Change): void {
  const value = structuredClone(original)
  const fields = listFields(message)
  const field = fields[at % fields.length]
  if (field === undefined) return
  const [parent, key] = field
  const before: unknown = Reflect.get(parent, key)
  if (how === 'replace') Reflect.set(parent, key, value)
  else if (how === 'remove') Reflect.deleteProperty(parent, key)
  else if (how === 'repeat') Reflect.set(parent, key, Array.isArray(before) ? [...before, ...before, value] : [before])
  else if (how === 'wrap') Reflect.set(parent, key, { [key]: before })
  // As JSON.parse does, unlike an assignment.
  else Object.defineProperty(parent, '__proto__', { value, enumerable: true, configurable: true, writable: true })
}

function listFields(value: unknown): readonly (readonly [object, string])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value).flatMap((key) => [[value, key] as const, ...listFields(Reflect.get(value, key))])
}

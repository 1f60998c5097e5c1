import fc from 'fast-check'
import { expect, test } from 'vitest'
import { alertKinds } from '../../contract/alert-kinds.ts'
import type { AlertBody } from '../../contract/alerts.ts'
import { notificationTypes } from '../../contract/values.ts'
import { type AlertData, noData } from '../alerts/alert.ts'
import type { NotificationMessage } from './message.ts'
import { utf8Length } from './plain-text.ts'
import { toNotificationBody, toNotificationText, withoutLink } from './text.ts'

const raisedAt = '2026-11-23T19:00:00.000Z'
const nora = { name: 'Nora', slot: 7, battery: 9, minutes_left: 12, threshold: 10, receiver: 'ULXD4Q Rack 2' }

function alert(kind: AlertBody['kind'], data: Partial<AlertData> = nora, values: Partial<AlertBody> = {}): AlertBody {
  return {
    id: 1,
    manufacturer: 'shure',
    kind,
    state: 'raised',
    severity: 'critical',
    message: '',
    channel_id: 31,
    receiver_id: 8,
    raised_at: raisedAt,
    cleared_at: null,
    acknowledged_by: null,
    acknowledged_at: null,
    note: null,
    snoozed_by: null,
    snoozed_at: null,
    snoozed_until: null,
    silenced: false,
    site: null,
    data: { ...noData, ...data },
    ...values,
  }
}

function message(alerts: readonly AlertBody[], values: Partial<NotificationMessage> = {}): NotificationMessage {
  return { id: 'msg_1', type: 'alert.raised', created_at: Date.parse(raisedAt), alerts, more: 0, ...values }
}

const plain = (text: string) => ({ text, acknowledgeUrl: null })

// Conformance: C-14.45.
test.each<[AlertBody['kind'], Partial<AlertData>, string]>([
  ['battery_critical', nora, 'Battery critical: 7 Nora, 9%, 12 min (ULXD4Q Rack 2)'],
  [
    'battery_critical',
    { ...nora, name: 'H02', title: 'Nora', title_from: 'performer', pack: 'H02' },
    'Battery critical: 7 Nora, 9%, 12 min (pack H02, ULXD4Q Rack 2)',
  ],
  ['battery_low', { ...nora, minutes_left: null }, 'Battery low: 7 Nora, 9% (ULXD4Q Rack 2)'],
  ['battery_died', nora, 'Battery died: 7 Nora, last at 9% (ULXD4Q Rack 2)'],
  ['will_not_last', { ...nora, battery: null }, 'Battery will not last: 7 Nora, 12 min (ULXD4Q Rack 2)'],
  ['receiver_offline', { name: 'ULXD4Q Rack 2', receiver: 'ULXD4Q Rack 2' }, 'Receiver offline: ULXD4Q Rack 2'],
  [
    'receiver_offline',
    { name: 'Rack 2', receiver: 'Rack 2', people: [7, 8, 9].map((slot) => ({ slot, title: `Singer ${slot}` })) },
    'Receiver offline: Rack 2, 7 Singer 7, 8 Singer 8 and 1 more',
  ],
  ['rf_weak', { name: 'Rack 2, channel 3', slot: 4, receiver: 'Rack 2' }, 'RF weak: 4 Rack 2, channel 3'],
  ['interference', nora, 'Interference: 7 Nora (ULXD4Q Rack 2)'],
  ['no_audio', { ...nora, threshold: 5 }, 'No audio: 7 Nora, for 5 min (ULXD4Q Rack 2)'],
  [
    'charger_fault',
    { name: 'Pack 3', receiver: 'Charger A', fault: 'too_hot' },
    'Charger fault: Pack 3, the battery is too hot to charge (Charger A)',
  ],
  [
    'equipment_fault',
    { name: 'Base', receiver: 'Base', fault: 'fan_failed', faults: [{ part: 'FAN_1', word: 'Broken' }] },
    'Equipment fault: Base, a fan has failed (FAN_1 Broken)',
  ],
  [
    'upstream_failing',
    { name: 'Shure System API', address: '10.0.0.5:10000', error: 'Connection refused' },
    'Source failing: Shure System API at 10.0.0.5:10000, Connection refused',
  ],
  ['storage_failing', { error: 'disk full' }, 'Changes cannot be saved: disk full'],
  ['recording_stopped', {}, 'Recording stopped'],
])('describes %s', (kind, data, line) => {
  const { title, lines } = toNotificationText(message([alert(kind, data)]), null)
  expect(lines).toEqual([plain(line)])
  expect(line.startsWith(title)).toBe(true)
})

test.each<[NotificationMessage['type'], Partial<AlertBody>, string]>([
  ['alert.raised', {}, 'Battery critical: 7 Nora, 9%, 12 min (ULXD4Q Rack 2), for 1 h 15 min'],
  ['alert.repeated', {}, 'Still open: Battery critical: 7 Nora, 9%, 12 min (ULXD4Q Rack 2), for 1 h 15 min'],
  ['alert.escalated', {}, 'Not acknowledged: Battery critical: 7 Nora, 9%, 12 min (ULXD4Q Rack 2), for 1 h 15 min'],
  [
    'alert.cleared',
    { cleared_at: '2026-11-23T19:04:30Z' },
    'Cleared: Battery critical: 7 Nora (ULXD4Q Rack 2), after 4 min',
  ],
])('says why a message is sent: %s', (type, values, line) => {
  const created_at = Date.parse(raisedAt) + 75 * 60_000
  const text = toNotificationText(message([alert('battery_critical', nora, values)], { type, created_at }), null)
  expect(text.lines).toEqual([plain(line)])
  expect(text.severity).toBe(type === 'alert.cleared' ? 'info' : 'critical')
})

test('lists the alerts from the most severe, and counts the others', () => {
  const alerts = [
    alert('battery_low', { name: 'Ben', slot: 2 }, { severity: 'warning' }),
    alert('battery_died', { name: 'Mia', slot: 5 }),
  ]
  expect(toNotificationText(message(alerts, { more: 3 }), null)).toEqual({
    title: 'Battery died: 5 Mia and 4 more',
    lines: ['Battery died: 5 Mia', 'Battery low: 2 Ben'].map(plain),
    more: 3,
    severity: 'critical',
    url: null,
  })
})

test('a test says what it is', () => {
  const { title, lines } = toNotificationText(message([], { type: 'test' }), null)
  expect(title).toBe('Test message from Micwatch')
  expect(lines).toHaveLength(1)
})

test.each<[string, readonly AlertBody[], string]>([
  ['a channel', [alert('rf_weak')], 'https://mics.example/micwatch/channels/31'],
  ['a receiver', [alert('receiver_offline', nora, { channel_id: null })], 'https://mics.example/micwatch/receivers/8'],
  [
    'a source',
    [alert('link_lost', nora, { channel_id: null, receiver_id: null })],
    'https://mics.example/micwatch/alerts',
  ],
  ['several alerts', [alert('rf_weak'), alert('no_audio')], 'https://mics.example/micwatch/alerts'],
  ['a test', [], 'https://mics.example/micwatch/'],
])('links to the page about %s', (_, alerts, url) => {
  expect(toNotificationText(message(alerts), 'https://mics.example/micwatch/').url).toBe(url)
})

test('a body that is too long leaves out the last alerts, and counts them', () => {
  const alerts = Array.from({ length: 50 }, (_, index) => alert('rf_weak', { name: 'Müller', slot: index + 1 }))
  const text = toNotificationText(message(alerts, { more: 7 }), 'https://mics.example')
  const body = toNotificationBody(text, 200)
  expect(utf8Length(body)).toBeLessThanOrEqual(200)
  const listed = body.split('\n').length - 2
  expect(listed).toBeGreaterThan(3)
  expect(body.split('\n').slice(-2)).toEqual([`And ${57 - listed} more.`, 'https://mics.example/alerts'])
  expect(toNotificationBody(text, 100_000).split('\n')).toHaveLength(52)
})

test('a body has the link of each alert below its line, or none if they do not all fit', () => {
  const [nora, ben] = ['https://mics.example/acknowledge#1', 'https://mics.example/acknowledge#2']
  const alerts = [
    { ...alert('battery_died', { name: 'Nora', slot: 7 }), acknowledge_url: nora },
    { ...alert('battery_low', { name: 'Ben', slot: 2 }, { severity: 'warning' }), acknowledge_url: ben },
  ]
  const text = toNotificationText(message(alerts), null)
  const lines = ['Battery died: 7 Nora', `Acknowledge: ${nora}`, 'Battery low: 2 Ben', `Acknowledge: ${ben}`]
  expect(toNotificationBody(text, 1000)).toBe(lines.join('\n'))
  expect(toNotificationBody(text, 100)).toBe('Battery died: 7 Nora\nBattery low: 2 Ben')
  expect(withoutLink(text)).toEqual({ ...text, acknowledgeUrl: null })
  const one = withoutLink(toNotificationText(message(alerts.slice(0, 1)), null))
  expect([one.acknowledgeUrl, toNotificationBody(one, 1000)]).toEqual([nora, 'Battery died: 7 Nora'])
})

const hostile = fc.oneof(
  fc.constantFrom(
    'Nora\r\nBcc: all@example.org',
    '\u202egnp.exe',
    '\u2066a\u2069',
    '\u0000\u0007\u001b[2J',
    '\u2028\u2029\u0085',
    '\ud83d',
    '\ufeff\u200b\u00ad',
    '\u{e0041}',
    'a\u0301'.repeat(9999),
    '👩‍🎤'.repeat(999),
    '',
    ' ',
  ),
  fc.string({ unit: 'binary', maxLength: 300 }),
)

// Conformance: C-14.46.
test('texts have one line each, no control characters or changes of direction, and a limited length', () => {
  const data = fc.record({
    name: fc.option(hostile),
    slot: fc.constantFrom(null, 65_535),
    battery: fc.constantFrom(null, 100),
    minutes_left: fc.constantFrom(null, 9999),
    threshold: fc.constantFrom(null, -120),
    receiver: fc.option(hostile),
    address: hostile,
    error: fc.option(hostile),
  })
  const type = fc.constantFrom(...notificationTypes)
  fc.assert(
    fc.property(data, fc.constantFrom(...alertKinds), type, hostile, (values, kind, type, manufacturer) => {
      const text = toNotificationText(message([alert(kind, values, { manufacturer })], { type, more: 999 }), null)
      expect(text.lines).toHaveLength(1)
      for (const [line, length] of [[text.title, 150] as const, [text.lines[0]?.text ?? '', 250] as const]) {
        expect([...line].length).toBeLessThanOrEqual(length)
        expect(line).toMatch(/\S/)
        expect(line.isWellFormed()).toBe(true)
        expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]|\s{2}/u)
      }
      expect(utf8Length(toNotificationBody(text, 400))).toBeLessThanOrEqual(400)
    }),
    { numRuns: 500 },
  )
})

test('an alert that cannot be formatted has its stored message, and does not hold up the others', () => {
  const { title, lines } = toNotificationText(
    message([
      alert('rf_weak', { name: { a: 1 } as unknown as string }, { message: 'Ben: RF weak' }),
      alert('from_the_future' as AlertBody['kind'], nora, { message: 'Nora: too far away' }),
      alert('charger_fault', { ...nora, fault: 'from_the_future' as AlertData['fault'] }),
    ]),
    null,
  )
  expect(title).toBe('Ben: RF weak and 2 more')
  const described = ['Ben: RF weak', 'Nora: too far away (ULXD4Q Rack 2)', 'Charger fault: 7 Nora (ULXD4Q Rack 2)']
  expect(lines).toEqual(described.map(plain))
})

test('counts bytes as UTF-8 does', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length)
    }),
  )
})

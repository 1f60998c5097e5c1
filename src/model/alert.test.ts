import { describe, expect, test } from 'vitest'
import {
  type Alert,
  type AlertCause,
  type AlertChange,
  canChangeAlerts,
  evaluateCharger,
  evaluateReceiver,
  evaluateSource,
  evaluateSubscription,
} from './alert.ts'
import type { Fault } from './details.ts'
import type { Unit } from './hardware.ts'
import { emptyChannel, type Receiver } from './receiver.ts'

function receiverWith(battery: number | null, fields: Partial<Receiver> = {}): Receiver {
  const reading = { upstream_slot: null, name: 'Vox', audio_level: null, rf_level: null, frequency: null }
  const transmitter = battery === null ? null : { ...reading, battery }
  return {
    id: 7,
    manufacturer: 'shure',
    api_device_id: 'a',
    name: 'Rack 1',
    device_type: 'ulxd',
    model: null,
    serial_number: null,
    mac_address: null,
    ip: null,
    subnet_mask: null,
    gateway: null,
    network_mode: null,
    interface_id: null,
    description: null,
    firmware_version: null,
    hosted_firmware_version: null,
    is_active: true,
    last_seen: 0,
    location: null,
    is_named_by_hand: false,
    channels: [{ ...emptyChannel(41, 1, 1), transmitter }],
    ...fields,
  }
}

/** Keeps what is open, and says what was announced: `+warning`, `+critical`, `-`. */
function createBook() {
  const open = new Map<string, Alert>()
  let id = 0
  const put = (about: AlertCause, own: number) =>
    open.set(about.subject, { ...about, id: own, state: 'raised', raised_at: 0, cleared_at: null })
  return {
    find: (subject: string) => open.get(subject),
    apply: (changes: readonly AlertChange[]) =>
      changes.map((change) => {
        if (change.type === 'clear') open.delete(change.alert.subject)
        else if (change.type === 'raise') put(change.cause, ++id)
        else put(change.cause, change.alert.id)
        return change.type === 'clear' ? '-' : `+${change.cause.severity}`
      }),
  }
}

describe('a battery', () => {
  test.each<[string, number, (number | null)[], string[]]>([
    ['above the threshold', 20, [100, 21], []],
    ['at the threshold', 20, [21, 20, 19], ['+warning']],
    ['on its way down', 20, [20, 11, 10, 9, 3], ['+warning', '+critical']],
    ['low at once', 20, [8], ['+critical']],
    ['wavering around the threshold', 20, [20, 21, 20, 24, 20], ['+warning']],
    ['charged', 20, [20, 25, 25, 100], ['+warning', '-']],
    ['wavering around critical', 20, [10, 12, 10, 9, 11], ['+critical']],
    ['changed twice', 20, [5, 100, 20, 100], ['+critical', '-', '+warning', '-']],
    ['not heard of for a while', 20, [15, null, 15, null, 90], ['+warning', '-']],
    ['under a low threshold', 5, [9, 6, 5], ['+critical']],
    ['with no threshold', 0, [1, 0], ['+critical']],
    ['with a high threshold', 97, [97, 99, 100], ['+warning', '-']],
    ['with the highest', 100, [100, 99], ['+warning']],
  ])('%s', (_, threshold, levels, expected) => {
    const book = createBook()
    const said = levels.flatMap((level) => book.apply(evaluateReceiver(receiverWith(level), threshold, book.find)))
    expect(said).toEqual(expected)
  })

  // Conformance: C-7.20.
  test('is the same alert when it gets worse, and says whose it is', () => {
    const book = createBook()
    book.apply(evaluateReceiver(receiverWith(18), 20, book.find))
    expect(evaluateReceiver(receiverWith(9), 20, book.find)).toMatchObject([
      { type: 'worsen', alert: { id: 1 }, finding: { channel_id: 41, message: 'Battery of Vox is at 9 %' } },
    ])
  })

  test('is judged anew under another threshold', () => {
    const book = createBook()
    expect(book.apply(evaluateReceiver(receiverWith(30), 20, book.find))).toEqual([])
    expect(book.apply(evaluateReceiver(receiverWith(30), 40, book.find))).toEqual(['+warning'])
    expect(book.apply(evaluateReceiver(receiverWith(30), 20, book.find))).toEqual(['-'])
  })
})

describe('a battery that the equipment calls low', () => {
  const warned = (battery: number | null, battery_low: boolean): Receiver => {
    const receiver = receiverWith(50)
    const channels = receiver.channels.map((channel) => ({
      ...channel,
      transmitter: channel.transmitter && { ...channel.transmitter, battery, details: { battery_low } },
    }))
    return { ...receiver, channels }
  }

  test.each<[string, Receiver[], string[]]>([
    ['and tells no percentage', [warned(null, true), warned(null, true), warned(null, false)], ['+warning', '-']],
    ['at a percentage above the threshold', [warned(70, true), warned(70, false)], ['+warning', '-']],
    ['at a percentage under it', [warned(8, true), warned(8, false), warned(90, false)], ['+critical', '-']],
    ['no more, and never did', [warned(null, false)], []],
  ])('%s', (_, receivers, expected) => {
    const book = createBook()
    const said = receivers.flatMap((receiver) => book.apply(evaluateReceiver(receiver, 20, book.find)))
    expect(said).toEqual(expected)
  })

  test('is worth a look when the warning changes alone', () => {
    expect(canChangeAlerts(warned(70, false), warned(70, true))).toBe(true)
    expect(canChangeAlerts(warned(70, true), warned(70, true))).toBe(false)
  })
})

describe('a charger', () => {
  const pack = (id: number, fault: Fault | null, fields: Partial<Unit> = {}): Unit => ({
    id,
    manufacturer: 'shure',
    channel_id: null,
    receiver_id: 7,
    api_device_id: `a:${id}`,
    name: `Rack 1, bay ${id}`,
    model: null,
    serial_number: null,
    device_type: 'mic_transmitter',
    battery: 50,
    details: { fault },
    is_online: true,
    ...fields,
  })
  const asAlert = (change: AlertChange): Alert[] =>
    change.type === 'raise' ? [{ ...change.cause, id: 1, state: 'raised', raised_at: 0, cleared_at: null }] : []
  const judge = (packs: readonly Unit[], open: readonly Alert[] = []) =>
    evaluateCharger(receiverWith(null), packs, open)
  const subjects = (changes: readonly AlertChange[]) =>
    changes.map((change) => (change.type === 'clear' ? `-${change.alert.subject}` : `+${change.cause.subject}`))

  test('raises one alert a pack and reason, and clears it with the reason', () => {
    const hot = judge([pack(1, 'too_hot'), pack(2, null), pack(3, 'charge_failed')])
    expect(subjects(hot)).toEqual(['+pack:1:too_hot', '+pack:3:charge_failed'])
    const open = hot.flatMap(asAlert)
    expect(subjects(judge([pack(1, 'too_cold'), pack(3, 'charge_failed')], open))).toEqual([
      '-pack:1:too_hot',
      '+pack:1:too_cold',
    ])
  })

  test('raises one alert for storage mode, however many packs are in it', () => {
    expect(subjects(judge([pack(1, 'storage_mode'), pack(2, 'storage_mode')]))).toEqual(['+charger:7:storage'])
  })

  test('clears the alert of a pack that was taken out', () => {
    const open = judge([pack(1, 'charge_failed')]).flatMap(asAlert)
    expect(subjects(judge([], open))).toEqual(['-pack:1:charge_failed'])
  })

  test('says nothing of a pack that is not there', () => {
    expect(judge([pack(1, 'charge_failed', { is_online: false })])).toEqual([])
  })
})

test('a receiver goes offline once and comes back once', () => {
  const book = createBook()
  const states = [true, false, false, true, true, false]
  const said = states.flatMap((is_active) =>
    book.apply(evaluateReceiver(receiverWith(null, { is_active }), 20, book.find)),
  )
  expect(said).toEqual(['+critical', '-', '+critical'])
})

test.each<[string, number[], string[]]>([
  ['fails twice', [1, 2, 0], []],
  ['fails three times and on', [1, 2, 3, 4, 5], ['+critical']],
  ['is back', [3, 0, 0], ['+critical', '-']],
  ['fails again', [3, 0, 1, 2, 3, 0], ['+critical', '-', '+critical', '-']],
])('a source %s', (_, failures, expected) => {
  const book = createBook()
  const said = failures.flatMap((unsuccessful_cycles) => {
    const error = unsuccessful_cycles === 0 ? null : 'refused'
    const fares = { manufacturer: 'shure', source: 'shure:http://x', unsuccessful_cycles, error }
    return book.apply(evaluateSource(fares, book.find))
  })
  expect(said).toEqual(expected)
})

// Conformance: C-7.23.
test.each<[string, [isWanted: boolean, downSince: number | null, now: number][], string[]]>([
  ['is up', [[true, null, 100_000]], []],
  ['is down for a while', [[true, 0, 59_999]], []],
  [
    'is lost for a minute and back',
    [
      [true, 0, 60_000],
      [true, 0, 61_000],
      [true, null, 62_000],
      [true, null, 63_000],
    ],
    ['+warning', '-'],
  ],
  [
    'is stopped on purpose',
    [
      [true, 0, 60_000],
      [false, 0, 61_000],
      [false, 0, 200_000],
    ],
    ['+warning', '-'],
  ],
])('a link %s', (_, moments, expected) => {
  const book = createBook()
  const said = moments.flatMap(([isWanted, downSince, now]) =>
    book.apply(
      evaluateSubscription({ manufacturer: 'shure', source: 'shure:http://x', isWanted, downSince }, book.find, now),
    ),
  )
  expect(said).toEqual(expected)
})

test('only a battery, a presence or another set of channels is worth a look', () => {
  const before = receiverWith(50)
  const [channel] = before.channels
  if (channel === undefined) throw new Error('no channel')
  const louder = { ...channel, audio_level: -3 }
  expect(canChangeAlerts(undefined, before)).toBe(true)
  expect(canChangeAlerts(before, { ...before, last_seen: 9 })).toBe(false)
  expect(canChangeAlerts(before, { ...before, channels: [louder] })).toBe(false)
  expect(canChangeAlerts(before, receiverWith(49))).toBe(true)
  expect(canChangeAlerts(before, { ...before, is_active: false })).toBe(true)
  expect(canChangeAlerts(before, { ...before, channels: [channel, emptyChannel(42, 2, 2)] })).toBe(true)
})

import { describe, expect, test } from 'vitest'
import { buildReceiver } from '../../../test/builders.ts'
import type { Fault } from '../../contract/values.ts'
import type { Unit } from '../equipment/hardware.ts'
import { emptyChannel, type Receiver } from '../equipment/receiver.ts'
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

function receiverWith(battery: number | null, fields: Partial<Receiver> = {}): Receiver {
  const reading = { upstream_slot: null, name: 'Vox', audio_level: null, rf_level: null, frequency: null }
  const transmitter = battery === null ? null : { ...reading, battery }
  const channels = [{ ...emptyChannel(41, 1, 1), transmitter }]
  return buildReceiver(7, { name: 'Rack 1', channels, ...fields })
}

/** Keeps the open alerts and returns the applied changes in short form: `+warning`, `+critical`, `-`. */
function createAlertStore() {
  const open = new Map<string, Alert>()
  let id = 0
  const put = (cause: AlertCause, alertId: number) =>
    open.set(cause.subject, { ...cause, id: alertId, state: 'raised', raised_at: 0, cleared_at: null })
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

describe('evaluateReceiver, for a battery', () => {
  test.each<[string, number, (number | null)[], string[]]>([
    ['above the threshold', 20, [100, 21], []],
    ['at the threshold', 20, [21, 20, 19], ['+warning']],
    ['discharging', 20, [20, 11, 10, 9, 3], ['+warning', '+critical']],
    ['low at once', 20, [8], ['+critical']],
    ['fluctuating around the threshold', 20, [20, 21, 20, 24, 20], ['+warning']],
    ['replaced by a charged one', 20, [20, 25, 25, 100], ['+warning', '-']],
    ['fluctuating around the critical level', 20, [10, 12, 10, 9, 11], ['+critical']],
    ['replaced twice', 20, [5, 100, 20, 100], ['+critical', '-', '+warning', '-']],
    ['not reported for a while', 20, [15, null, 15, null, 90], ['+warning', '-']],
    ['under a low threshold', 5, [9, 6, 5], ['+critical']],
    ['with a threshold of zero', 0, [1, 0], ['+critical']],
    ['with a high threshold', 97, [97, 99, 100], ['+warning', '-']],
    ['with the highest threshold', 100, [100, 99], ['+warning']],
  ])('%s', (_, threshold, levels, expected) => {
    const alerts = createAlertStore()
    const changes = levels.flatMap((level) =>
      alerts.apply(evaluateReceiver(receiverWith(level), threshold, alerts.find)),
    )
    expect(changes).toEqual(expected)
  })

  // Conformance: C-7.20.
  test('keeps the alert when it becomes critical, and names the transmitter', () => {
    const alerts = createAlertStore()
    alerts.apply(evaluateReceiver(receiverWith(18), 20, alerts.find))
    expect(evaluateReceiver(receiverWith(9), 20, alerts.find)).toMatchObject([
      { type: 'worsen', alert: { id: 1 }, cause: { channel_id: 41, message: 'Vox: battery at 9%' } },
    ])
  })

  test('applies a changed threshold', () => {
    const alerts = createAlertStore()
    expect(alerts.apply(evaluateReceiver(receiverWith(30), 20, alerts.find))).toEqual([])
    expect(alerts.apply(evaluateReceiver(receiverWith(30), 40, alerts.find))).toEqual(['+warning'])
    expect(alerts.apply(evaluateReceiver(receiverWith(30), 20, alerts.find))).toEqual(['-'])
  })
})

describe('evaluateReceiver, for a battery that the equipment reports as low', () => {
  const warned = (battery: number | null, battery_low: boolean): Receiver => {
    const receiver = receiverWith(50)
    const channels = receiver.channels.map((channel) => ({
      ...channel,
      transmitter: channel.transmitter && { ...channel.transmitter, battery, details: { battery_low } },
    }))
    return { ...receiver, channels }
  }

  test.each<[string, Receiver[], string[]]>([
    ['without a percentage', [warned(null, true), warned(null, true), warned(null, false)], ['+warning', '-']],
    ['at a percentage above the threshold', [warned(70, true), warned(70, false)], ['+warning', '-']],
    ['at a percentage below the threshold', [warned(8, true), warned(8, false), warned(90, false)], ['+critical', '-']],
    ['no longer, without an open alert', [warned(null, false)], []],
  ])('%s', (_, receivers, expected) => {
    const alerts = createAlertStore()
    const changes = receivers.flatMap((receiver) => alerts.apply(evaluateReceiver(receiver, 20, alerts.find)))
    expect(changes).toEqual(expected)
  })

  test('can change alerts when only the warning changes', () => {
    expect(canChangeAlerts(warned(70, false), warned(70, true))).toBe(true)
    expect(canChangeAlerts(warned(70, true), warned(70, true))).toBe(false)
  })
})

describe('evaluateCharger', () => {
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
  const evaluate = (packs: readonly Unit[], open: readonly Alert[] = []) =>
    evaluateCharger(receiverWith(null), packs, open)
  const subjects = (changes: readonly AlertChange[]) =>
    changes.map((change) => (change.type === 'clear' ? `-${change.alert.subject}` : `+${change.cause.subject}`))

  test('raises one alert per pack and fault, and clears it when the fault ends', () => {
    const changes = evaluate([pack(1, 'too_hot'), pack(2, null), pack(3, 'charge_failed')])
    expect(subjects(changes)).toEqual(['+pack:1:too_hot', '+pack:3:charge_failed'])
    const open = changes.flatMap(asAlert)
    expect(subjects(evaluate([pack(1, 'too_cold'), pack(3, 'charge_failed')], open))).toEqual([
      '-pack:1:too_hot',
      '+pack:1:too_cold',
    ])
  })

  test('raises one alert for storage mode with any number of packs', () => {
    expect(subjects(evaluate([pack(1, 'storage_mode'), pack(2, 'storage_mode')]))).toEqual(['+charger:7:storage'])
  })

  test('clears the alert of a removed pack', () => {
    const open = evaluate([pack(1, 'charge_failed')]).flatMap(asAlert)
    expect(subjects(evaluate([], open))).toEqual(['-pack:1:charge_failed'])
  })

  test('raises no alert for an offline pack', () => {
    expect(evaluate([pack(1, 'charge_failed', { is_online: false })])).toEqual([])
  })
})

test('raises one alert when a receiver goes offline and clears it once', () => {
  const alerts = createAlertStore()
  const states = [true, false, false, true, true, false]
  const changes = states.flatMap((is_active) =>
    alerts.apply(evaluateReceiver(receiverWith(null, { is_active }), 20, alerts.find)),
  )
  expect(changes).toEqual(['+critical', '-', '+critical'])
})

test.each<[string, number[], string[]]>([
  ['that fails twice', [1, 2, 0], []],
  ['that keeps failing', [1, 2, 3, 4, 5], ['+critical']],
  ['that recovers', [3, 0, 0], ['+critical', '-']],
  ['that fails again', [3, 0, 1, 2, 3, 0], ['+critical', '-', '+critical', '-']],
])('evaluateSource, for a source %s', (_, failures, expected) => {
  const alerts = createAlertStore()
  const changes = failures.flatMap((unsuccessful_cycles) => {
    const error = unsuccessful_cycles === 0 ? null : 'refused'
    const status = { manufacturer: 'shure', source: 'shure:http://x', unsuccessful_cycles, error }
    return alerts.apply(evaluateSource(status, alerts.find))
  })
  expect(changes).toEqual(expected)
})

// Conformance: C-7.23.
test.each<[string, [isEnabled: boolean, downSince: number | null, now: number][], string[]]>([
  ['that is up', [[true, null, 100_000]], []],
  ['that is down for less than a minute', [[true, 0, 59_999]], []],
  [
    'that is down for a minute and restored',
    [
      [true, 0, 60_000],
      [true, 0, 61_000],
      [true, null, 62_000],
      [true, null, 63_000],
    ],
    ['+warning', '-'],
  ],
  [
    'that a user has stopped',
    [
      [true, 0, 60_000],
      [false, 0, 61_000],
      [false, 0, 200_000],
    ],
    ['+warning', '-'],
  ],
])('evaluateSubscription, for a subscription %s', (_, moments, expected) => {
  const alerts = createAlertStore()
  const changes = moments.flatMap(([isEnabled, downSince, now]) =>
    alerts.apply(
      evaluateSubscription({ manufacturer: 'shure', source: 'shure:http://x', isEnabled, downSince }, alerts.find, now),
    ),
  )
  expect(changes).toEqual(expected)
})

test('only a change of a battery, the online state or the list of channels can change alerts', () => {
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

import { expect, test } from 'vitest'
import { buildReceiver } from '../../../test/support/builders.ts'
import type { Fault } from '../../contract/faults.ts'
import type { Unit } from '../equipment/hardware.ts'
import { listFaultCauses } from './equipment-faults.ts'
import { TestAlerts } from './test-alerts.ts'

const charger = buildReceiver(7, { name: 'Rack 1' })

const pack = (id: number, fault: Fault | null, fields: Partial<Unit> = {}): Unit => ({
  id,
  manufacturer: 'shure',
  channel_id: null,
  receiver_id: 7,
  api_device_id: `a:${id}`,
  name: `Rack 1, bay ${id}`,
  model: null,
  serial_number: null,
  upstream_slot: null,
  device_type: 'mic_transmitter',
  battery: 50,
  details: { fault },
  is_online: true,
  ...fields,
})

function evaluate(
  alerts: TestAlerts,
  packs: readonly Unit[],
  { isInhibited = false, receiver = charger } = {},
): readonly string[] {
  return alerts.compare({
    causes: listFaultCauses(receiver, packs, isInhibited),
    endingOf: () => (isInhibited ? null : 'resolved'),
  })
}

test('raises one alert per pack and fault, and clears it when the fault ends', () => {
  const alerts = new TestAlerts()
  evaluate(alerts, [pack(1, 'too_hot'), pack(2, null), pack(3, 'charge_failed')])
  expect(alerts.open.map(({ message }) => message)).toEqual([
    'Rack 1, bay 1: the battery is too hot to charge',
    'Rack 1, bay 3: charging failed',
  ])
  expect(evaluate(alerts, [pack(1, 'too_cold'), pack(3, 'charge_failed')])).toEqual([
    '-charger_fault',
    '+charger_fault warning',
  ])
  expect(evaluate(alerts, [pack(1, 'too_cold')])).toEqual(['-charger_fault'])
})

test('raises one alert for storage mode with any number of packs', () => {
  const alerts = new TestAlerts()
  evaluate(alerts, [pack(1, 'storage_mode'), pack(2, 'storage_mode')])
  expect(alerts.open.map(({ subject }) => subject)).toEqual(['charger:7:storage'])
})

test('raises no alert for an offline pack', () => {
  expect(evaluate(new TestAlerts(), [pack(1, 'charge_failed', { is_online: false })])).toEqual([])
})

test('raises and clears nothing while the charger or its sources fail', () => {
  const alerts = new TestAlerts()
  evaluate(alerts, [pack(1, 'too_hot')])
  expect(evaluate(alerts, [pack(2, 'too_hot')], { isInhibited: true })).toEqual([])
  expect(alerts.open.map(({ subject }) => subject)).toEqual(['pack:1:too_hot'])
})

// Conformance: C-24.13.
test('raises one alert for all faults of a receiver, with the words of the device', () => {
  const alerts = new TestAlerts()
  const supply = { part: 'psu2', word: 'disconnected' }
  const fan = { part: 'FAN_1', word: 'Broken' }
  const withFaults = (fault: Fault, faults: readonly (typeof supply)[]) => ({
    receiver: buildReceiver(7, { name: 'Base', details: { fault, faults: [...faults] } }),
  })
  evaluate(alerts, [], withFaults('supply_failed', [supply]))
  expect(alerts.open).toMatchObject([
    {
      ...{ kind: 'equipment_fault', severity: 'warning', receiver_id: 7, channel_id: null },
      message: 'Base: a power supply has failed (psu2 disconnected)',
      data: { fault: 'supply_failed', faults: [supply] },
    },
  ])
  alerts.now += 10_000
  expect(evaluate(alerts, [], withFaults('supply_failed', [supply, fan]))).toEqual(['=equipment_fault'])
  expect(alerts.open[0]?.message).toBe('Base: a power supply has failed (psu2 disconnected, FAN_1 Broken)')
  expect(evaluate(alerts, [], { receiver: buildReceiver(7, { details: {} }) })).toEqual(['-equipment_fault'])
})

test('names a fault without a word of the device by its code', () => {
  const alerts = new TestAlerts()
  evaluate(alerts, [pack(1, 'too_hot')], { receiver: buildReceiver(7, { details: { fault: 'bad_clock' } }) })
  expect(alerts.open.map(({ data }) => data.faults)).toEqual([
    [{ part: null, word: 'bad_clock' }],
    [{ part: null, word: 'too_hot' }],
  ])
})

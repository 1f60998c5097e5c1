import { expect, test } from 'vitest'
import { withoutFalseZeros } from './false-zeros.ts'
import type { DeviceReport, TransmitterDetails } from './receiver.ts'

const report: DeviceReport = { id: '1', kind: 'receiver' }

test.each<[string, number | null, TransmitterDetails, number | null, TransmitterDetails]>([
  ['minutes of a charged battery', 95, { battery_minutes: 0 }, 95, { battery_minutes: null }],
  ['minutes of an empty battery', 5, { battery_minutes: 0 }, 5, { battery_minutes: 0 }],
  ['minutes without a charge', null, { battery_minutes: 0 }, null, { battery_minutes: 0 }],
  ['charge beside minutes', 0, { battery_minutes: 300 }, null, { battery_minutes: 300 }],
  ['charge beside bars', 0, { battery_bars: 4 }, null, { battery_bars: 4 }],
  [
    'charge of an empty battery',
    0,
    { battery_minutes: 2, battery_bars: 0 },
    0,
    { battery_minutes: 2, battery_bars: 0 },
  ],
  ['bars of a charged battery', 60, { battery_bars: 0 }, 60, { battery_bars: null }],
  ['bars of a low battery', 12, { battery_bars: 0 }, 12, { battery_bars: 0 }],
  ['health of a charged battery', 60, { battery_health: 0 }, 60, { battery_health: null }],
  ['minutes to full at 60%', 60, { battery_minutes_to_full: 0 }, 60, { battery_minutes_to_full: null }],
  ['minutes to full of a full battery', 98, { battery_minutes_to_full: 0 }, 98, { battery_minutes_to_full: 0 }],
  [
    ...(['minutes to full in storage mode', 40] as const),
    ...([{ battery_minutes_to_full: 0, fault: 'storage_mode' }, 40] as const),
    { battery_minutes_to_full: 0, fault: 'storage_mode' },
  ],
  [
    ...(['temperature and cycles', 60, { battery_temperature_c: 0, battery_cycles: 0 }, 60] as const),
    { battery_temperature_c: 0, battery_cycles: 0 },
  ],
])('zero as %s', (_, battery, details, expectedBattery, expectedDetails) => {
  const before = { battery, details }
  const after = { battery: expectedBattery, details: expectedDetails }
  expect(withoutFalseZeros({ ...report, channels: [{ channel: 1, name: 'A', transmitter: before }] })).toEqual({
    ...report,
    channels: [{ channel: 1, name: 'A', transmitter: after }],
  })
  const pack: DeviceReport = { id: 'p', kind: 'transmitter' }
  const units = (values: object) => ({ ...report, units: [{ ...pack, ...values }] })
  expect(withoutFalseZeros(units(before))).toEqual(units(after))
  expect(withoutFalseZeros({ ...pack, ...before })).toEqual({ ...pack, ...after })
})

test('applies to the packs in the slots of a channel', () => {
  const slot = { slot: 2, status: 'active' as const, on_air: false, battery: 80 }
  const withSlot = (battery_minutes: number | null): DeviceReport => ({
    ...report,
    channels: [{ channel: 1, details: { muted: false, slots: [{ ...slot, battery_minutes }] } }],
  })
  expect(withoutFalseZeros(withSlot(0))).toEqual(withSlot(null))
})

test('returns a report without false zeros itself', () => {
  const healthy: DeviceReport = {
    ...report,
    channels: [{ channel: 1, transmitter: { battery: 80, details: { battery_minutes: 300 } } }, { channel: 2 }],
    units: [{ id: 'p', kind: 'transmitter', battery: 50 }],
  }
  expect(withoutFalseZeros(healthy)).toBe(healthy)
})

import { describe, expect, test } from 'vitest'
import { valuesOfChannel } from './families.ts'
import { onAirSlot, readSlots } from './slots.ts'

/** Values of channel 1, with a pack on air in slot 2 and an empty slot 3; `more` is added. */
const axient = (more: Record<string, string> = {}) => ({
  '1 TX_MODEL': 'ADX2',
  '1 TX_DEVICE_ID': 'Lead',
  '1 SLOT_STATUS 2': 'LINKED.ACTIVE',
  '1 SLOT_TX_MODEL 2': 'ADX2',
  '1 SLOT_TX_DEVICE_ID 2': 'Lead',
  '1 SLOT_RF_OUTPUT 2': 'RF_ON',
  '1 SLOT_STATUS 3': 'EMPTY',
  ...more,
})
const slotsOf = (values: Record<string, string>) => readSlots(valuesOfChannel(values, 1))
const linked = (slot: number, name: string, more: Record<string, string> = {}) => ({
  [`1 SLOT_STATUS ${slot}`]: 'LINKED.ACTIVE',
  [`1 SLOT_TX_MODEL ${slot}`]: 'ADX2',
  [`1 SLOT_TX_DEVICE_ID ${slot}`]: name,
  ...more,
})

describe('readSlots', () => {
  test('returns undefined if a channel has reported no slot, and an empty list if all are empty', () => {
    expect(slotsOf({ '1 TX_MODEL': 'ADX2', '2 SLOT_STATUS 1': 'STANDARD' })).toBeUndefined()
    expect(slotsOf({ '1 SLOT_STATUS 1': 'EMPTY', '1 SLOT_STATUS 2': 'NEW.WORD' })).toEqual([])
  })

  test('reads a spare transmitter with its battery', () => {
    const battery = {
      '1 SLOT_BATT_CHARGE_PERCENT 1': '087',
      '1 SLOT_BATT_MINS 1': '00522',
      '1 SLOT_BATT_BARS 1': '005',
    }
    const spare = linked(1, 'Spare', { '1 SLOT_RF_OUTPUT 1': 'RF_MUTE', '1 SLOT_BATT_TYPE 1': 'LION', ...battery })
    expect(slotsOf(axient(spare))).toEqual([
      {
        ...{ slot: 1, status: 'active', on_air: false, model: 'ADX2', name: 'Spare', rf_muted: true },
        ...{ battery: 87, battery_bars: 5, battery_minutes: 522, battery_type: 'lithium-ion pack' },
      },
      { slot: 2, status: 'active', on_air: true, model: 'ADX2', name: 'Lead', rf_muted: false },
    ])
  })

  test('does not read codes as values', () => {
    const codes = { '1 SLOT_BATT_CHARGE_PERCENT 2': '255', '1 SLOT_BATT_BARS 2': '254', '1 SLOT_BATT_MINS 2': '65534' }
    const unknown = {
      '1 SLOT_STATUS 2': 'LINKED.INACTIVE',
      '1 SLOT_TX_MODEL 2': 'UNKNOWN',
      '1 SLOT_BATT_TYPE 2': 'UNKN',
    }
    expect(slotsOf(axient({ ...codes, ...unknown, '1 SLOT_RF_OUTPUT 2': 'UNKNOWN' }))).toEqual([
      {
        ...{ slot: 2, status: 'inactive', on_air: false, model: null, name: 'Lead', rf_muted: null },
        ...{ battery: null, battery_bars: null, battery_minutes: null, battery_type: null },
      },
    ])
  })

  test.each([
    ['online', 'SLXD2+', 'active'],
    ['offline', 'SLXD2+', 'inactive'],
    ['LINKED.INACTIVE', 'SLXD2+', 'inactive'],
    ['offline', '', undefined],
    ['offline', 'UNKNOWN', undefined],
    ['EMPTY', 'SLXD2+', undefined],
  ])('reads the second link of an SLX-D+ that is %s with the model %j', (link, model, status) => {
    const slots = slotsOf({ '1 LINK_STATUS 2': link, '1 SLOT_TX_MODEL 2': model })
    expect(slots).toEqual(status ? [{ slot: 2, status, on_air: false, model }] : [])
  })
})

describe('onAirSlot', () => {
  const { '1 SLOT_TX_MODEL 2': _, '1 SLOT_TX_DEVICE_ID 2': __, ...statusesOnly } = axient()
  test.each([
    ['the transmitter with the name of the received one', axient(linked(1, 'Spare')), 2],
    ['not a muted transmitter', axient(linked(1, 'Lead', { '1 SLOT_RF_OUTPUT 1': 'RF_MUTE' })), 2],
    ['the first active one if several match', axient(linked(1, 'Lead')), 1],
    ['the active one if only the status is reported', statusesOnly, 2],
    ['a registered transmitter that matches', axient({ '1 SLOT_STATUS 2': 'STANDARD' }), 2],
    ['none if no transmitter is received', axient({ '1 TX_MODEL': 'UNKNOWN', '1 TX_DEVICE_ID': '' }), undefined],
    [
      'none if another transmitter is registered',
      axient({ '1 SLOT_STATUS 2': 'STANDARD', '1 TX_DEVICE_ID': 'X' }),
      undefined,
    ],
  ])('is %s', (_, values, expected) => {
    expect(onAirSlot(slotsOf(values))).toBe(expected)
  })
})

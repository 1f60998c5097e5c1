import { describe, expect, test } from 'vitest'
import type { FaultWord } from '../../../domain/equipment/receiver.ts'
import { toDeviceReport } from './session.ts'

const endpoint = { host: '10.0.0.9', ip: '10.0.0.9', name: null, channels: [] }

describe('a charger', () => {
  const toChargerReport = (product: string, values: Record<string, unknown>) =>
    toDeviceReport(new Map(Object.entries({ '/device/identity/product': product, ...values })), endpoint)

  test.each([
    ['CHG70N', 'chg70n'],
    ['CHG 70N-C', 'chg70n'],
    ['L6000', 'l6000'],
    ['CHG2N', 'chg2n'],
    ['CHG 4N', 'chg4n'],
  ])('%s has no channels, and no units before they are reported', (product, device_type) => {
    const report = toChargerReport(product, {})
    expect(report).toMatchObject({ device_type, channels: [] })
    expect(report.units).toBeUndefined()
  })

  test('of the SpeechLine series has no units for empty bays', () => {
    const values = { '/bays/active': [false, true], '/bays/device_type': [2, 9], '/bays/serial': ['105', '106'] }
    expect(toChargerReport('CHG2N', values).units).toMatchObject([
      { id: 'ssc1:pack:106', name: 'bay 2', model_name: null },
    ])
  })

  test('identifies a pack by its serial number, or by its bay if that is unknown', () => {
    const values = { '/bays/device_type': ['EW-DX SK', 'UNKNOWN', 'NONE', null], '/bays/serial': ['105', '', '', ''] }
    expect(toChargerReport('CHG70N', values).units).toMatchObject([
      { id: 'ssc1:pack:105', serial_number: '105', name: 'EW-DX SK, bay 1' },
      { id: 'ssc1:10.0.0.9/bay2', serial_number: null, name: 'bay 2', model_name: null },
    ])
  })

  test.each([[101], [-1], ['80'], [null], [undefined]])('reports the gauge %j as unknown', (gauge) => {
    const values = { '/bays/device_type': ['EW-DX SK'], '/bays/bat_gauge': [gauge] }
    expect(toChargerReport('CHG70N', values).units?.[0]?.battery ?? null).toBeNull()
  })

  test.each([[[]], [['x']], [null], [Array.from({ length: 12 }, () => 65_280)]])('%j: no battery', (numbers) => {
    const values = { '/slot1/type': 1, '/slot1/subslot1/accu_parameter': numbers }
    expect(toChargerReport('L6000', values).units).toEqual([])
  })

  const docked = {
    CHG70N: { '/bays/device_type': ['NONE', 'EW-DX SK'] },
    CHG2N: { '/bays/active': [false, true] },
    L6000: { '/slot2/type': 1, '/slot2/subslot2/accu_parameter': [31, 3950, 1800, 420, 7, 4, 30, 82, 17, 99, 1, 5] },
  }

  test.each<[keyof typeof docked, Record<string, unknown>, string | null | undefined, string | null | undefined]>([
    ['CHG70N', {}, undefined, undefined],
    ['CHG70N', { '/bays/state': ['ERROR', 'NORMAL'], '/device/warnings': [] }, null, null],
    ['CHG70N', { '/bays/state': ['NORMAL', 'ERROR'] }, 'battery_error', undefined],
    ['CHG70N', { '/bays/warnings': ['', 'BatteryTempOutOfRange'] }, 'temperature_out_of_range', undefined],
    ['CHG70N', { '/bays/warnings': [[], ['BatteryComError']] }, 'communication_failure', undefined],
    ['CHG70N', { '/bays/warnings': [[], ['a new word']] }, null, undefined],
    ['CHG70N', { '/device/storage_mode': true }, 'storage_mode', undefined],
    ['CHG70N', { '/device/warnings': ['CascadeComError'] }, undefined, 'charger_link_lost'],
    [
      'CHG2N',
      {
        '/bays/state': [
          [0, 2],
          [0, 0],
        ],
      },
      'battery_error',
      undefined,
    ],
    [
      'CHG2N',
      {
        '/bays/state': [
          [0, 2],
          [0, 4],
        ],
      },
      'charge_failed',
      undefined,
    ],
    [
      'CHG2N',
      {
        '/bays/state': [
          [0, 1],
          [9, 0],
        ],
      },
      null,
      undefined,
    ],
    ['L6000', { '/device/warnings': [] }, null, null],
    ['L6000', { '/device/warnings': [3] }, 'too_hot', null],
    ['L6000', { '/device/warnings': [11] }, null, null],
    ['L6000', { '/device/warnings': [19, 3] }, 'battery_error', null],
    ['L6000', { '/device/warnings': [32] }, 'too_cold', null],
    ['L6000', { '/device/warnings': [0, 30] }, null, null],
    ['L6000', { '/device/warnings': [25] }, null, 'fan_failed'],
    ['L6000', { '/device/warnings': [28] }, null, 'device_too_hot'],
    ['L6000', { '/slot4/type': 3 }, undefined, 'check_charger'],
    ['L6000', { '/slot2/subslot2/led': 'GREEN_YELLOW_FLASHING' }, 'storage_mode', undefined],
    ['L6000', { '/slot2/subslot2/led': 'YELLOW_FLASHING' }, null, undefined],
  ])('%s reports the faults of %j', (product, values, packFault, chargerFault) => {
    const { units, details } = toChargerReport(product, { ...docked[product], ...values })
    expect([units?.[0]?.details?.fault, details?.fault]).toEqual([packFault, chargerFault])
  })

  // Conformance: C-24.2.
  test.each<[keyof typeof docked, Record<string, unknown>, readonly string[]]>([
    [
      'CHG70N',
      { '/bays/warnings': ['', ['OvercurrentDetected', 'BatteryComError']] },
      ['OvercurrentDetected', 'BatteryComError'],
    ],
    ['CHG70N', { '/bays/state': ['NORMAL', 'ERROR'] }, ['ERROR']],
    [
      'CHG2N',
      {
        '/bays/state': [
          [0, 0],
          [0, 6],
        ],
      },
      ['error bit 1', 'error bit 2'],
    ],
    ['L6000', { '/device/warnings': [19, 3] }, ['warning 19', 'warning 3']],
  ])('%s reports %j of a pack in the words of the charger', (product, values, words) => {
    const [unit] = toChargerReport(product, { ...docked[product], ...values }).units ?? []
    expect(unit?.details?.faults?.map(({ word }) => word)).toEqual(words)
  })

  // Conformance: C-24.2.
  test.each<[keyof typeof docked, Record<string, unknown>, readonly FaultWord[]]>([
    ['CHG70N', { '/device/warnings': ['CascadeComError'] }, [{ part: null, word: 'CascadeComError' }]],
    [
      'L6000',
      { '/device/warnings': [25, 28, 11] },
      [
        { part: 'fan 2', word: 'warning 25' },
        { part: null, word: 'warning 28' },
      ],
    ],
    ['L6000', { '/slot4/type': 3 }, [{ part: 'slot 4', word: 'type 3' }]],
  ])('%s reports its own faults %j in its words', (product, values, faults) => {
    expect(toChargerReport(product, { ...docked[product], ...values }).details?.faults).toEqual(faults)
  })
})

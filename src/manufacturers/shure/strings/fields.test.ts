import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { detectFamily, type Family, uhfr } from './families.ts'
import { fields, meters } from './fields.ts'
import { readPacks, toChannelReading } from './translate.ts'

const digits = (value: number, width: number) => String(value).padStart(width, '0')
const byteCode = fc.integer({ min: 252, max: 255 }).map((code) => digits(code, 3))
const twoByteCode = fc.integer({ min: 65_532, max: 65_535 }).map((code) => digits(code, 5))

describe('a field', () => {
  // Conformance: C-3.28.
  test('of one byte is null from 252 on', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 255 }), (value) => {
        expect(fields.power.read(digits(value, 3))).toBe(value < 252 ? value : null)
        expect(fields.temperature.read(digits(value, 3))).toBe(value < 252 ? value - 40 : null)
        expect(meters.rf.read(value)).toBe(value <= 170 ? value - 120 : null)
      }),
    )
  })

  test('of two bytes is null from 65532 on', () => {
    const value = fc.oneof(fc.integer({ min: 0, max: 65_535 }), fc.integer({ min: 65_520, max: 65_535 }))
    fc.assert(
      fc.property(value, (raw) => {
        expect(fields.minutes.read(digits(raw, 5))).toBe(raw < 65_532 ? raw : null)
      }),
    )
  })

  test('without codes accepts the same digits', () => {
    expect(fields.frequency.read('065534')).toBe(65_534)
  })
})

const bytes = ['AUDIO_GAIN', 'TX_OFFSET', 'TX_POWER_LEVEL', 'RF_TX_LVL', 'BATT_BARS', 'TX_BATT_BARS', 'BATT_CHARGE']
const moreBytes = ['TX_BATT_CHARGE_PERCENT', 'BATT_HEALTH', 'TX_BATT_HEALTH_PERCENT', 'BATT_TEMP_C', 'TX_BATT_TEMP_C']
const twoBytes = ['BATT_CYCLE', 'TX_BATT_CYCLE_COUNT', 'BATT_RUN_TIME', 'TX_BATT_MINS', 'BATT_TIME_TO_FULL']

const samples: readonly (readonly [name: string, family: Family | null, sample: readonly string[]])[] = [
  ['ULX-D', detectFamily({ MODEL: 'ULXD4' }), ['AX', 'code', 'code']],
  ['QLX-D', detectFamily({ MAC_ADDR: '00:0E:DD:00:00:01' }), ['AX', 'code', 'code']],
  ['SLX-D', detectFamily({ MODEL: 'SLXD4' }), ['code', 'code', 'code']],
  ['SLX-D+', detectFamily({ MODEL: 'SLXD4+' }), ['code', 'code', 'code']],
  ['AD4', detectFamily({ MODEL: 'AD4D-A' }), ['code', '031', 'code', 'code', 'BB', '31', 'code', '31', 'code']],
  ['ANX4', detectFamily({ MODEL: 'ANX4' }), ['code', '031', 'code', 'code', 'BB', '31', 'code', '31', 'code']],
  ['UHF-R', uhfr, ['AX', 'code', '100', 'code', '031']],
  ['PSM 1000', detectFamily({ MODEL: 'P10T' }), []],
  ['charger', detectFamily({ MODEL: 'SBC220' }), []],
]

test.each(samples)('%s: never reports a code as a reading', (_name, family, sample) => {
  if (family === null) throw new Error('The family was not detected.')
  const sampleFields = fc.tuple(...sample.map((field) => (field === 'code' ? byteCode : fc.constant(field))))
  const fields = {
    ...Object.fromEntries([...bytes, ...moreBytes].map((key) => [`1 ${key}`, byteCode])),
    ...Object.fromEntries(twoBytes.map((key) => [`1 ${key}`, twoByteCode])),
    '1 SAMPLE': sampleFields.map((values) => values.join(' ')),
  }
  const fixed = { '1 TX_TYPE': 'ULXD2', '1 BATT_DETECTED': 'YES' }
  fc.assert(
    fc.property(fc.record(fields, { requiredKeys: [] }), (generated) => {
      const values = { ...generated, ...fixed }
      const { channel: _, ...reading } = toChannelReading(family, values, 1)
      const packs = readPacks(family, values, { id: 'charger', name: 'Backstage' })
      expect(numbersIn([reading, packs])).toEqual([])
    }),
  )
})

function numbersIn(value: unknown): readonly number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

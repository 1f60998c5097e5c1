import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readPacks } from './bays.ts'
import { type Family, recognise, uhfr } from './families.ts'
import { toChannelReading } from './translate.ts'
import { readByte, readKhz, readShifted, readTwoBytes } from './words.ts'

const digits = (value: number, width: number) => String(value).padStart(width, '0')
const byteCode = fc.integer({ min: 252, max: 255 }).map((code) => digits(code, 3))
const twoByteCode = fc.integer({ min: 65_532, max: 65_535 }).map((code) => digits(code, 5))

describe('a field', () => {
  test('of one byte gives its value below 252, and nothing from there on', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 255 }), (value) => {
        expect(readByte(digits(value, 3))).toBe(value < 252 ? value : null)
        expect(readShifted(digits(value, 3), 40)).toBe(value < 252 ? value - 40 : null)
      }),
    )
  })

  test('of two bytes gives its value below 65532, and nothing from there on', () => {
    const value = fc.oneof(fc.integer({ min: 0, max: 65_535 }), fc.integer({ min: 65_520, max: 65_535 }))
    fc.assert(
      fc.property(value, (raw) => {
        expect(readTwoBytes(digits(raw, 5))).toBe(raw < 65_532 ? raw : null)
      }),
    )
  })

  test('without codes may have the same digits', () => {
    expect(readKhz('065534')).toBe('65.534')
  })
})

const bytes = ['AUDIO_GAIN', 'TX_OFFSET', 'TX_POWER_LEVEL', 'RF_TX_LVL', 'BATT_BARS', 'TX_BATT_BARS', 'BATT_CHARGE']
const moreBytes = ['TX_BATT_CHARGE_PERCENT', 'BATT_HEALTH', 'TX_BATT_HEALTH_PERCENT', 'BATT_TEMP_C', 'TX_BATT_TEMP_C']
const twoBytes = ['BATT_CYCLE', 'TX_BATT_CYCLE_COUNT', 'BATT_RUN_TIME', 'TX_BATT_MINS', 'BATT_TIME_TO_FULL']

const samples: readonly (readonly [name: string, family: Family | null, sample: readonly string[]])[] = [
  ['ULX-D', recognise({ MODEL: 'ULXD4' }), ['AX', 'code', 'code']],
  ['QLX-D', recognise({ MAC_ADDR: '00:0E:DD:00:00:01' }), ['AX', 'code', 'code']],
  ['SLX-D', recognise({ MODEL: 'SLXD4' }), ['code', 'code', 'code']],
  ['SLX-D+', recognise({ MODEL: 'SLXD4+' }), ['code', 'code', 'code']],
  ['AD4', recognise({ MODEL: 'AD4D-A' }), ['code', '031', 'code', 'code', 'BB', '31', 'code', '31', 'code']],
  ['ANX4', recognise({ MODEL: 'ANX4' }), ['code', '031', 'code', 'code', 'BB', '31', 'code', '31', 'code']],
  ['UHF-R', uhfr, ['AX', 'code', '100', 'code', '031']],
  ['PSM 1000', recognise({ MODEL: 'P10T' }), []],
  ['charger', recognise({ MODEL: 'SBC220' }), []],
]

test.each(samples)('%s: a code is never a reading, whatever the field', (_name, family, sample) => {
  if (family === null) throw new Error('not recognised')
  const sampleWord = fc.tuple(...sample.map((word) => (word === 'code' ? byteCode : fc.constant(word))))
  const fields = {
    ...Object.fromEntries([...bytes, ...moreBytes].map((key) => [`1 ${key}`, byteCode])),
    ...Object.fromEntries(twoBytes.map((key) => [`1 ${key}`, twoByteCode])),
    '1 SAMPLE': sampleWord.map((words) => words.join(' ')),
  }
  const fixed = { '1 TX_TYPE': 'ULXD2', '1 BATT_DETECTED': 'YES' }
  fc.assert(
    fc.property(fc.record(fields, { requiredKeys: [] }), (told) => {
      const words = { ...told, ...fixed }
      const { channel: _, ...reading } = toChannelReading(family, words, 1)
      const packs = readPacks(family, words, { id: 'charger', name: 'Backstage' })
      expect(numbersIn([reading, packs])).toEqual([])
    }),
  )
})

function numbersIn(value: unknown): readonly number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

import { describe, expect, test } from 'vitest'
import type { LevelSample } from '../../../domain/levels/level-sample.ts'
import { detectFamily } from './families.ts'
import { createLevelReader } from './level-reader.ts'

function createReader(model = 'ULXD4Q') {
  const received: LevelSample[][] = []
  const dropped: number[] = []
  const family = detectFamily({ MODEL: model })
  if (family === null) throw new Error(`there is no ${model}`)
  const store = { dropSample: (channel: number) => void dropped.push(channel) }
  const read = createLevelReader({ id: 'a', family }, store, (_, samples) => received.push([...samples]) > 0)
  return { received, dropped, read: (text: string) => read(Buffer.from(text)).toString() }
}

const first = '< SAMPLE 1 ALL AX 100 030 >'
const second = '< SAMPLE 2 ALL XB 099 029 >'
const firstLevels = { channel: 1, rf_level: -28, audio_level: -20, details: { antennas: 'A', audio_rms: -20 } }
const secondLevels = { channel: 2, rf_level: -29, audio_level: -21, details: { antennas: 'B', audio_rms: -21 } }

describe('createLevelReader', () => {
  test('passes the levels of all leading samples on at once, and returns nothing', () => {
    const { read, received } = createReader()
    expect(read(`${first}\r\n${second}\r\n`)).toBe('')
    expect(received).toEqual([[firstLevels, secondLevels]])
  })

  test.each([
    ['a property', '< REP 1 BATT_CHARGE 080 >'],
    ['a name in braces', '< REP 1 CHAN_NAME {SAMPLE 1 ALL AX 100 030} >'],
    ['a sample with another layout', '< SAMPLE 1 ALL 100 030 >'],
    ['a sample without a channel', '< SAMPLE ALL AX 100 030 >'],
    ['an incomplete sample', '< SAMPLE 1 ALL AX 1'],
    ['a frame within a frame', '< SAMPLE 1 < REP ERR >'],
  ])('returns the bytes from %s on', (_, other) => {
    const { read, received } = createReader()
    expect(read(`${first}${other}${second}`)).toBe(`${other}${second}`)
    expect(received).toEqual([[firstLevels]])
  })

  test('drops the older sample of a channel once, and again after other frames', () => {
    const { read, dropped } = createReader()
    read(first)
    read(`${second}${first}`)
    expect(dropped).toEqual([1, 2])
    read(`< REP 1 BATT_CHARGE 080 >${first}`)
    read(first)
    expect(dropped).toEqual([1, 2, 1])
  })
})

describe('the overload of an Axient Digital channel', () => {
  const sample = (leds: string) => `< SAMPLE 1 ALL 005 ${leds} 118 110 BB 31 086 31 065 >`
  const on = '< REP 1 AUDIO_OVERLOAD ON >'
  const off = '< REP 1 AUDIO_OVERLOAD OFF >'

  test('is reported when it is known, when it begins, and when it has ended for two seconds', () => {
    const { read } = createReader('AD4Q')
    expect(read(sample('031'))).toBe(off)
    expect(read(sample('127'))).toBe('')
    expect(read(sample('255'))).toBe(on)
    expect(read(sample('128') + sample('031'))).toBe('')
    for (let count = 0; count < 18; count += 1) expect(read(sample('000'))).toBe('')
    expect(read(sample('000'))).toBe(off)
    expect(read(sample('000'))).toBe('')
  })

  test('does not end between peaks', () => {
    const { read } = createReader('AD4Q')
    const peak = sample('255') + sample('031').repeat(19)
    expect(read(peak.repeat(3))).toBe(on)
  })

  test('is reported before the bytes that are returned, for each channel', () => {
    const { read, received } = createReader('AD4Q')
    const other = '< REP 1 TX_MODEL ADX2 >'
    const second = sample('255').replace('SAMPLE 1', 'SAMPLE 2')
    expect(read(`${sample('031')}${second}${other}`)).toBe(`${off}${on.replace('REP 1', 'REP 2')}${other}`)
    expect(received).toHaveLength(1)
    expect(received[0]?.[0]).not.toHaveProperty('isOverloaded')
  })

  test('is unknown if the LEDs are not a number', () => {
    const { read, received } = createReader('AD4Q')
    expect(read(sample('???'))).toBe('')
    expect(received).toHaveLength(1)
  })
})

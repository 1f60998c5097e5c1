import { describe, expect, test } from 'vitest'
import type { LevelSample } from '../../../domain/levels/level-sample.ts'
import { detectFamily } from './families.ts'
import { createLevelReader } from './level-reader.ts'

/** Creates a reader of a ULX-D receiver, and records what it passes on. */
function createReader() {
  const received: LevelSample[][] = []
  const stored: [number, string][] = []
  const family = detectFamily({ MODEL: 'ULXD4Q' })
  if (family === null) throw new Error('there is no ULX-D')
  const store = { putSample: (channel: number, text: string) => stored.push([channel, text]) > 0 }
  const read = createLevelReader({ id: 'a', family }, store, (_, samples) => received.push([...samples]))
  return { received, stored, read: (text: string) => read(Buffer.from(text)).toString() }
}

const first = '< SAMPLE 1 ALL AX 100 030 >'
const second = '< SAMPLE 2 ALL XB 099 029 >'
const firstLevels = { channel: 1, rf_level: -28, audio_level: -20, details: { antennas: 'A', audio_rms: -20 } }
const secondLevels = { channel: 2, rf_level: -29, audio_level: -21, details: { antennas: 'B', audio_rms: -21 } }

describe('createLevelReader', () => {
  test('passes the levels of all leading samples on at once, and returns nothing', () => {
    const { read, received, stored } = createReader()
    expect(read(`${first}\r\n${second}\r\n`)).toBe('')
    expect([received, stored]).toEqual([[[firstLevels, secondLevels]], []])
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

  test('stores the last sample of each channel before other frames', () => {
    const { read, stored } = createReader()
    read(first)
    read(`${second}${first.replace('100', '101')}`)
    expect(stored).toEqual([])
    read('< REP 1 BATT_CHARGE 080 >')
    expect(stored).toEqual([
      [1, 'AX 101 030'],
      [2, 'XB 099 029'],
    ])
  })

  test('leaves a sample that is longer than any known one', () => {
    const { read, received } = createReader()
    const long = `< SAMPLE 1 ALL AX ${'0'.repeat(200)}100 030 >`
    expect([read(long), received]).toEqual([long, []])
  })
})

import { describe, expect, test } from 'vitest'
import type { LevelSample } from '../../../domain/levels/level-sample.ts'
import { detectFamily } from './families.ts'
import { createLevelReader } from './level-reader.ts'

/** Creates a reader of a ULX-D receiver, and records what it passes on. */
function createReader() {
  const received: LevelSample[][] = []
  const dropped: number[] = []
  const family = detectFamily({ MODEL: 'ULXD4Q' })
  if (family === null) throw new Error('there is no ULX-D')
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

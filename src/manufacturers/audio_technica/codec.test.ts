import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createReplyParser, describeErrorCode, formatQuery, isBusy, parseMinutes, splitMessages } from './codec.ts'
import { esw } from './fields.ts'

// The ai4av catalogue lists requests as `gmymodel O 0000 00 NC` and `gchname O 0000 00 NC {ch}`. The Companion modules
// for ESW and System 20 PRO send a space after `NC` even without a parameter, and 0001 for a System 20 PRO.
test('formatQuery adds the link ID and the channel, if any, and ends with CR', () => {
  expect(formatQuery({ command: 'gmymodel' }, '0000')).toBe('gmymodel O 0000 00 NC \r')
  expect(formatQuery({ command: 'gchname', channel: 8 }, '0001')).toBe('gchname O 0001 00 NC 8\r')
})

// The text is an example in the tests of wirelessboard.
test('splitMessages keeps an unfinished message', () => {
  expect(splitMessages('ACK\r gprch 0000 00 NC\r n')).toEqual({ messages: ['ACK', ' gprch 0000 00 NC'], rest: ' n' })
})

describe('a reply', () => {
  const parse = (message: string) => createReplyParser()(message)

  test.each([
    // From the tests of wirelessboard.
    [
      'gprch 0000 00 NC 2,,0,,,1,580925000,03,12,1',
      { command: 'gprch', values: ['2', '', '0', '', '', '1', '580925000', '03', '12', '1'] },
    ],
    [' gprch 0000 00 NC', { command: 'gprch', values: [''] }],
    ['gmymodel 0000 05 NC "ESW-R4180DAN",1 ', { command: 'gmymodel', values: ['ESW-R4180DAN', '1'] }],
    ['gchname 0000 00 NC 1,"Smith, J. NAK 02"', { command: 'gchname', values: ['1', 'Smith, J. NAK 02'] }],
    ['GCHNAME 0001 999 NC 1,""', { command: 'gchname', values: ['1', ''] }],
  ])('%j has its parameters', (message, reply) => expect(parse(message)).toEqual(reply))

  test.each([
    // The Companion modules read the error code from the sixth word of a NAK.
    ['glevelbatt 0000 00 NC NAK 11', 11],
    ['gtxname 0000 00 NC NAK 90 ', 90],
    // The catalogue's form for another product of this manufacturer, the ceiling microphone ATND1061.
    ['gchmute NAK 04', 4],
    ['gchmute NAK', 99],
  ])('%j has its error code', (message, errorCode) => {
    expect(parse(message)).toEqual({ command: message.split(' ')[0], errorCode })
  })

  test.each([
    '',
    'ACK',
    'schmute ACK',
    'schmute 0000 00 NC ACK',
    'NAK',
    '17 #',
    'gchname 0000 00 CM 1,2',
    'gchname 0000 00 CE 1,2',
  ])('%j is ignored', (message) => expect(parse(message)).toBeNull())

  test.each(['gchname 0000 00 NC 1,"a"b', `gchname 0000 00 NC 1,"${'x'.repeat(300)}"`])('%j is malformed', (message) =>
    expect(parse(message)).toEqual({ command: 'gchname', values: null }),
  )

  test('is never an exception', () => {
    fc.assert(fc.property(fc.string(), (text) => parse(text) === null || parse(text) !== null))
  })
})

describe('a divided message', () => {
  const parseAll = (messages: readonly string[]) => messages.map(createReplyParser()).filter((reply) => reply !== null)

  test('is returned when its end arrives', () => {
    const messages = ['gx 0000 00 CS 1,"St', 'gx 0000 00 CM age l', 'gx 0000 00 CE eft",2']
    expect(parseAll(messages)).toEqual([{ command: 'gx', values: ['1', 'Stage left', '2'] }])
  })

  test('is dropped if another message or an error interrupts it', () => {
    const rest = ['gx 0000 00 CM 2,', 'gx 0000 00 CE 3']
    expect(parseAll(['gx 0000 00 CS 1,', 'gy 0000 00 NC 7', ...rest])).toEqual([{ command: 'gy', values: ['7'] }])
    expect(parseAll(['gx 0000 00 CS 1,', 'gx 0000 00 NC NAK 03', ...rest])).toEqual([{ command: 'gx', errorCode: 3 }])
  })

  test('is dropped if it is endless', () => {
    const part = 'x'.repeat(250)
    const parts = [`gx 0000 00 CS ${part}`, ...Array(40).fill(`gx 0000 00 CM ${part}`), 'gx 0000 00 CE x']
    expect(parseAll(parts)).toEqual([])
    expect(parseAll([...parts.slice(0, 20), 'gx 0000 00 CE x'])).toHaveLength(1)
  })
})

test('describes error codes and recognizes those of a busy receiver', () => {
  expect(describeErrorCode(2)).toBe('NAK 02, unknown command')
  expect(describeErrorCode(61)).toBe('NAK 61, undocumented error')
  const busy = [1, 4, 11, 90, 92, 93, 99].filter((errorCode) => isBusy({ command: 'gx', errorCode }))
  expect(busy).toEqual([90, 92, 93])
})

test('converts steps to the middle of their ranges, and never a code to a step', () => {
  const alone = ['0', '1', '4', '7', '8', '255', 'x'].map((step) => [step])
  expect(alone.map(esw.rf.read)).toEqual([null, -87, -69, -54, null, null, null])
  expect(alone.map(esw.audio.read)).toEqual([null, -45, -16, -1, null, null, null])
  expect(alone.map(esw.isLinked.read)).toEqual([false, true, true, true, null, null, null])
  const afterLink = [
    ['1', '4'],
    ['1', '0'],
    ['0', '4'],
    ['2', '4'],
    ['1', '255'],
    ['1', '4', '4'],
  ]
  expect(afterLink.map(esw.rf.read)).toEqual([-69, null, null, null, null, null])
  expect(afterLink.map(esw.audio.read)).toEqual([-16, -50, null, null, null, null])
  expect(afterLink.map(esw.isLinked.read)).toEqual([true, true, false, null, true, null])
})

test('converts the remaining time to minutes', () => {
  expect(['0000', '0930', '9959', '0260', '930', ''].map(parseMinutes)).toEqual([
    0,
    570,
    5999,
    Number.NaN,
    Number.NaN,
    Number.NaN,
  ])
})

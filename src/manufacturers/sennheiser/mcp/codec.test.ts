import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatLine, formatPushLine, parseDatagram } from './codec.ts'
import { fields } from './fields.ts'

// Lines from the examples in TI 1254 v1.0, sections on cyclic and configuration attributes.
const emCycle = [
  'RF1 25 65 1',
  'RF2 28 78 0',
  'States 3 2',
  'RF 50 1 1',
  'AF 40 65 3',
  'Bat 70',
  'Msg Low_RF_Signal Low_Battery',
  'Config 234',
]

test('parses a whole EM cycle', () => {
  expect(parseDatagram(`${emCycle.join('\r')}\r`)).toEqual({
    facts: {
      kind: 'EM',
      rf1Percent: 65,
      rf2Percent: 78,
      isRfOff: false,
      rfPercent: 50,
      activeAntenna: 1,
      hasPilot: true,
      afPercent: 40,
      afPeakPercent: 65,
      mutes: { tx: true, rf: false, rx: false },
      batteryPercent: 70,
      warnings: ['Low_RF_Signal', 'Low_Battery'],
      configIndex: 234,
    },
    errors: [],
    ignored: [],
    keywords: ['RF1', 'RF2', 'States', 'RF', 'AF', 'Bat', 'Msg', 'Config'],
  })
})

test.each([
  ['AF 37 42 3', { tx: true, rf: false, rx: false }],
  ['AF 37 42 13', { tx: false, rf: true, rx: true }],
  ['AF 37 42 0', { tx: false, rf: false, rx: false }],
])('%s: parses the mutes as in the bit table', (line, mutes) => {
  expect(parseDatagram(`${line}\r`).facts).toEqual({ afPercent: 37, afPeakPercent: 42, mutes })
})

test.each(['Af', 'AF'])('parses both channels of an SR with the keyword %s', (keyword) => {
  expect(parseDatagram(`${keyword} 15 25 40 38 5\rStates 1 2\r`).facts).toEqual({
    kind: 'SR',
    afPercent: 25,
    afPeakPercent: 40,
    isRfOff: true,
  })
})

test.each([
  ['Bat ?', { kind: 'EM', batteryPercent: null }],
  ['Bat 0', { kind: 'EM', batteryPercent: 0 }],
  ['Msg OK', { warnings: [] }],
  ['Frequency 822000 0 0', { frequencyKhz: 822_000 }],
  ['FirmwareRevision 1.20.1', { firmware: '1.20.1' }],
  ['Name Lead vox; spare', { name: 'Lead vox; spare' }],
  ['Name ', { name: '' }],
  ['Mute 1', { isMuted: true }],
  ['Equalizer 1 0 0 -3 5 0', {}],
  ['Push 60 500 3', {}],
])('%s', (line, facts) => {
  expect(parseDatagram(`${line}\r`)).toEqual({ facts, errors: [], ignored: [], keywords: line.split(' ', 1) })
})

test('parses errors with the rejected command', () => {
  const { errors } = parseDatagram('1020: Value out of range [ Push 60 250 3 ] \r1000: Invalid command\r')
  expect(errors).toEqual([
    { code: 1020, text: 'Value out of range', command: 'Push 60 250 3' },
    { code: 1000, text: 'Invalid command', command: '' },
  ])
})

test('splits lines at CR, LF, CR LF or, as TI 1254 mentions, semicolons', () => {
  const facts = { frequencyKhz: 822_000, isMuted: false }
  for (const text of [
    'Frequency 822000 0 0\rMute 0\r',
    'Frequency 822000 0 0\r\nMute 0\r\n',
    'Frequency 822000;Mute 0',
  ])
    expect(parseDatagram(text).facts).toEqual(facts)
})

describe('invalid input', () => {
  test.each([
    'RF1 a b c',
    'RF 50',
    'Bat',
    'Bat 170',
    'bat 70',
    'AF 1',
    'Frequency',
    'Frequency 0 0 0',
    'toString',
    'HTTP/1.1 200',
  ])('ignores %s and parses the other lines', (line) => {
    const { facts, ignored } = parseDatagram(`${line}\rConfig 7\r`)
    expect(facts).toEqual({ configIndex: 7 })
    expect(ignored).toEqual([line])
  })

  test('never throws for arbitrary bytes', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => Array.isArray(parseDatagram(text).ignored)))
    fc.assert(fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => Array.isArray(parseDatagram(text).ignored)))
  })
})

test('converts the ends of both scales: 0 % is 0 dBuV or -50 dB, 100 % is 40 dBuV or peak', () => {
  expect([0, 100, 150].map(fields.rf.read)).toEqual([-107, -67, -47])
  expect([0, 100, 120].map(fields.audio.read)).toEqual([-50, 0, 0])
})

test('ends commands with CR', () => {
  expect(formatLine('FirmwareRevision')).toBe('FirmwareRevision\r')
  expect(formatPushLine({ timeoutS: 60, cycleMs: 500, withConfiguration: true })).toBe('Push 60 500 3\r')
  expect(formatPushLine({ timeoutS: 0, cycleMs: 0, withConfiguration: false })).toBe('Push 0 0 0\r')
})

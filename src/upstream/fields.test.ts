import { expect, test } from 'vitest'
import { timeLimit } from '../../test/support/time-limit.ts'
import {
  cleanText,
  readAudioLevel,
  readBattery,
  readFrequency,
  readIp,
  readMac,
  readRfLevel,
  readText,
  readWhole,
  withoutUndefined,
} from './fields.ts'

const readers = { readText, readBattery, readAudioLevel, readRfLevel, readFrequency, readIp, readMac }

test.each(Object.entries(readers))('%s returns undefined for an absent value and null for another type', (_, read) => {
  expect(read(undefined)).toBeUndefined()
  for (const odd of [null, {}, [], true, Number.NaN, { toString: 7 }]) expect(read(odd)).toBeNull()
})

test.each<[(value: unknown) => unknown, unknown, unknown]>([
  [readText, ' Rack A ', 'Rack A'],
  [readText, '', null],
  [readText, ' \u0000\t ', null],
  [readText, 4711, '4711'],
  [readText, Number.POSITIVE_INFINITY, null],
  [readText, 'a\u0000b\u001b[31m\u007f\u0085c', 'a b [31m c'],
  [readText, '\r\nstage\r\n\tleft\n', 'stage left'],
  [readText, 'a\ud800b', 'a\ufffdb'],
  [readText, '\udc00', '\ufffd'],
  [readText, 'Übung 音 🎤', 'Übung 音 🎤'],
  [readText, '<b>bold</b>', '<b>bold</b>'],
  [readText, 'x'.repeat(2000), 'x'.repeat(1024)],
  [(value) => readText(value, 255), '🎤'.repeat(300), '🎤'.repeat(255)],
  [readBattery, 0, 0],
  [readBattery, 100, 100],
  [readBattery, 61.5, 62],
  [readBattery, -1, null],
  [readBattery, 101, null],
  [readBattery, '50', null],
  [readBattery, Number.POSITIVE_INFINITY, null],
  [readAudioLevel, -18.4, -18],
  [readAudioLevel, 3, 0],
  [readAudioLevel, -201, null],
  [readAudioLevel, 101, null],
  [readRfLevel, -48, -48],
  [readRfLevel, 51, null],
  [readFrequency, 512.125, '512.125'],
  [readFrequency, '518.55', '518.550'],
  [readFrequency, '512.125 MHz', '512.125'],
  [readFrequency, '512.125mhz', '512.125'],
  [readFrequency, '', null],
  [readFrequency, ' ', null],
  [readFrequency, 'MHz', null],
  [readFrequency, 0, null],
  [readFrequency, -5, null],
  [readFrequency, 1e9, null],
  [readIp, ' 10.20.1.11 ', '10.20.1.11'],
  [readIp, '255.255.255.255', '255.255.255.255'],
  [readIp, '010.1.1.1', null],
  [readIp, '256.1.1.1', null],
  [readIp, '1.2.3', null],
  [readIp, '1.2.3.4.', null],
  [readIp, '1.2.3.4.5', null],
  [readIp, '::1', null],
  [readIp, 2130706433, null],
  [readMac, '00:0e:dd:4a:00:01', '00:0E:DD:4A:00:01'],
  [readMac, '00-0E-DD-4A-00-01', '00:0E:DD:4A:00:01'],
  [readMac, '000e.dd4a.0001', '00:0E:DD:4A:00:01'],
  [readMac, '00:0e:dd:4a:00', null],
])('%o of %j', (read, value, expected) => {
  expect(read(value)).toBe(expected)
})

test('readWhole checks the bounds', () => {
  expect(readWhole(1.4, 1, 2)).toBe(1)
  expect(readWhole(2.6, 1, 2)).toBeNull()
})

test('cleanText is fast for text of one megabyte', () => {
  const startedAt = performance.now()
  for (const letter of [' ', 'M', '\u0000', '\ud800', '1', '.', ':', '🎤']) {
    const long = letter.repeat(1024 * 1024)
    for (const read of Object.values(readers)) read(`${long}x`)
    expect(cleanText(long, 255).length).toBeLessThanOrEqual(510)
  }
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(2000))
})

test('withoutUndefined removes only undefined fields', () => {
  expect(withoutUndefined({ a: undefined, b: null, c: 0, d: '' })).toEqual({ b: null, c: 0, d: '' })
})

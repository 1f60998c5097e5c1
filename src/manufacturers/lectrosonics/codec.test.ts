import { describe, expect, test } from 'vitest'
import { formatQuery, parseReply } from './codec.ts'
import { fields } from './fields.ts'

test('formatQuery adds the channel, if any, and ends with CR', () => {
  expect(formatQuery('id')).toBe('!id?\r')
  expect(formatQuery('chstat', 3)).toBe('!chstat(3)?\r')
})

describe('parseReply', () => {
  test.each([
    ['OK id="DSQD"', { name: 'id', address: null, values: ['DSQD'] }],
    ['OK rxfreq(2)=471200', { name: 'rxfreq', address: 2, values: [471_200] }],
    ['OK rxfreq=471200\r\n', { name: 'rxfreq', address: null, values: [471_200] }],
    ['OK rxalevel(*)={-35, 8,0,-1}', { name: 'rxalevel', address: '*', values: [-35, 8, 0, -1] }],
    ['OK rxmute=[0,1]', { name: 'rxmute', address: null, values: [0, 1] }],
    ['OK rxname(1)="Lead \\"A\\", left\\\\\\x21"', { name: 'rxname', address: 1, values: ['Lead "A", left\\!'] }],
    ['OK desc=""', { name: 'desc', address: null, values: [''] }],
    ['OK rxfreq(*)={471200,--,fast}', { name: 'rxfreq', address: '*', values: [471_200, '--', 'fast'] }],
  ])('%j', (line, reply) => expect(parseReply(line)).toEqual(reply))

  test.each(['', 'OK', 'ERROR', '"DSQD"', 'OK id', 'OK rxname="open', `OK x=${'('.repeat(99)} y`])(
    'returns null for %j',
    (line) => expect(parseReply(line)).toBeNull(),
  )
})

test('converts meters in half dB below full scale and in quarter dBµV', () => {
  expect([0, -37, -120, 3, -128].map(fields.audio.read)).toEqual([0, -18, -60, null, null])
  expect([0, 240, 130, 255, -4].map(fields.rf.read)).toEqual([-107, -47, -74, null, null])
})

test('reads warnings as codes', () => {
  expect([0, 1, 2, 3, 4, 9].map(fields.batteryWarning.read)).toEqual([false, true, true, null, null, null])
  expect([0, 1, 2].map(fields.hardware.read)).toEqual([null, 'antenna_short', null])
})

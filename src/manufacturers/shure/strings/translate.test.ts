/** What devices tell, as Shure's papers and public projects quote it, and what it must become. */

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { expectCommonFormat, freeze } from '../../../../test/plugin-kit-fixtures.ts'
import type { DeviceReport } from '../../../model/receiver.ts'
import { recognise, uhfr } from './families.ts'
import { cutAngles, cutStars, parseFrame } from './frames.ts'
import { createHearing } from './hearing.ts'
import { readAxientSample, readSlxdSample, readUlxdSample } from './samples.ts'
import { idOf, toObservation } from './translate.ts'

interface Fixture {
  readonly source: string
  readonly stream: readonly string[]
  /** Of a device at 192.0.2.7, without `metadata`. */
  readonly report: DeviceReport
}

const folder = new URL('./fixtures/', import.meta.url)
const fixtures = readdirSync(folder).map((name) => ({
  name,
  fixture: JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Fixture,
}))

test.each(fixtures)('$name', async ({ fixture: { source, stream, report } }) => {
  expect(source.length).toBeGreaterThan(20)
  const isUdp = stream[0]?.startsWith('*') ?? false
  async function* messages() {
    if (isUdp) yield stream
    // In pieces of seven characters: a frame may be cut anywhere.
    let rest = ''
    for (const piece of isUdp ? [] : (stream.join('').match(/.{1,7}/gs) ?? [])) {
      const cut = cutAngles(rest + piece)
      rest = cut.rest
      yield cut.messages
    }
  }
  const hearing = createHearing(messages(), isUdp)
  while ((await hearing.next()) !== null);
  const { words } = hearing
  const family = isUdp ? uhfr : recognise(words)
  if (family === null) throw new Error('nobody knows what it is')
  const device = { id: idOf(words, '192.0.2.7'), family, ip: '192.0.2.7', called: null, words: { ...words } }
  const { metadata, ...told } = toObservation(freeze(device))
  expectCommonFormat({ ...told, metadata })
  expect(told).toEqual(report)
})

describe('frames', () => {
  test('that were cut on the way are put together, and noise between them is dropped', () => {
    const first = cutAngles('noise>> < REP 1 CHAN_NAME {a > b')
    expect(first).toEqual({ messages: [], rest: '< REP 1 CHAN_NAME {a > b' })
    expect(cutAngles(`${first.rest}} ><REP ERR>more`)).toEqual({
      messages: [' REP 1 CHAN_NAME {a > b} ', 'REP ERR'],
      rest: '',
    })
    expect(cutAngles(`< ${'x'.repeat(5000)}`).rest).toBe('')
    expect(cutStars('* REPORT 1 A 1 * * REPORT 2')).toEqual([' REPORT 1 A 1 '])
  })

  test.each([
    ['REP ERR', { type: 'refused' }],
    ['REP 1 CHAN_NAME {Lead Vox   }', { type: 'property', channel: 1, key: 'CHAN_NAME', value: 'Lead Vox' }],
    ['REPLY DEVICE_ID {}', { type: 'property', channel: null, key: 'DEVICE_ID', value: '' }],
    ['REP 2 RSSI 1 086', { type: 'property', channel: 2, key: 'RSSI 1', value: '086' }],
    ['REP 2 RSSI 086', { type: 'property', channel: 2, key: 'RSSI', value: '086' }],
    ['REP 1 SLOT_TX_MODEL 3 {ADX1   }', { type: 'property', channel: 1, key: 'SLOT_TX_MODEL 3', value: 'ADX1' }],
    ['SAMPLE 1 ALL AX 100 030', { type: 'sample', channel: 1, value: 'AX 100 030' }],
    ['SAMPLE 1 SOME 1', null],
    ['SAMPLE ALL', null],
    ['GET MODEL', null],
    ['', null],
  ])('%j', (inner, expected) => {
    expect(parseFrame(inner)).toEqual(expected)
  })
})

test('samples of another layout than the family’s are none', () => {
  expect(readUlxdSample(['AX', '100'])).toBeNull()
  expect(readUlxdSample(['AX', '100', '030', '1'])).toBeNull()
  expect(readSlxdSample(['102', '102'])).toBeNull()
  expect(readAxientSample(['005', '031', '102', '102'])).toBeNull()
  expect(readAxientSample(['005', '031', '102', '102', 'BB', '31', '086', '31'])).toBeNull()
  expect(
    readAxientSample('005 031 102 102 BBBB 31 082 31 060 31 050 31 040 XXXX 31 090 31 050 31 050 31 050'.split(' ')),
  ).toMatchObject({
    rf_level: -30,
    details: { rf_a: -30, rf_d: -70, antennas: 'ABCD' },
  })
})

test('a receiver is known by what it tells', () => {
  expect(recognise({ MODEL: 'SLXD4QDAN+' })?.identityKeys).toContain('NET_SETTINGS SC')
  expect(recognise({ MODEL: 'SLXD4' })?.identityKeys).not.toContain('NET_SETTINGS SC')
  expect(recognise({ '1 AUDIO_MUTE': 'OFF', '1 BATT_BARS': '005' })?.name).toBe('ulxd')
  expect(recognise({ MAC_ADDR: '00:0E:DD:00:00:01', '1 BATT_BARS': '005' })?.name).toBe('qlxd')
  expect(recognise({ MODEL: 'AXT600' })).toBeNull()
  expect(recognise({})).toBeNull()
})

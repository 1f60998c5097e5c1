/** Converts frames quoted in Shure's documents and public projects to the common format. */

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { expectCommonFormat, freeze } from '../../../../test/support/plugins/plugin-kit-fixtures.ts'
import type { DeviceReport } from '../../../domain/equipment/receiver.ts'
import { detectFamily, uhfr } from './families.ts'
import { parseFrame, splitAngleFrames, splitStarFrames } from './frames.ts'
import { Fields } from './message-fields.ts'
import { createPropertyStore } from './property-store.ts'
import { readAxientSample, readSlxdSample, readUlxdSample } from './samples.ts'
import { idOf, toDeviceReport } from './translate.ts'

interface Fixture {
  readonly source: string
  readonly stream: readonly string[]
  /** The expected report of a device at 192.0.2.7, without `metadata`. */
  readonly report: DeviceReport
}

const folder = new URL('./fixtures/', import.meta.url)
const fixtures = readdirSync(folder)
  .map((name) => ({ name, fixture: JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Fixture }))
  .filter(({ fixture }) => 'stream' in fixture)

test.each(fixtures)('$name', async ({ fixture: { source, stream, report } }) => {
  expect(source.length).toBeGreaterThan(20)
  const isUdp = stream[0]?.startsWith('*') ?? false
  async function* messages() {
    if (isUdp) yield stream
    // In chunks of seven characters, because a frame may be split anywhere.
    let rest = ''
    for (const chunk of isUdp ? [] : (stream.join('').match(/.{1,7}/gs) ?? [])) {
      const frames = splitAngleFrames(rest + chunk)
      rest = frames.rest
      yield frames.messages
    }
  }
  const store = createPropertyStore(messages(), isUdp)
  while ((await store.next()) !== null);
  const { values } = store
  const family = isUdp ? uhfr : detectFamily(values)
  if (family === null) throw new Error('The family was not detected.')
  const device = { id: idOf(values, '192.0.2.7'), family, ip: '192.0.2.7', configuredName: null, values: { ...values } }
  const { metadata, ...converted } = toDeviceReport(freeze(device))
  expectCommonFormat({ ...converted, metadata })
  expect(converted).toEqual(report)
})

describe('frames', () => {
  test('are joined when they arrive in chunks, and noise between them is dropped', () => {
    const first = splitAngleFrames('noise>> < REP 1 CHAN_NAME {a > b')
    expect(first).toEqual({ messages: [], rest: '< REP 1 CHAN_NAME {a > b' })
    expect(splitAngleFrames(`${first.rest}} ><REP ERR>more`)).toEqual({
      messages: [' REP 1 CHAN_NAME {a > b} ', 'REP ERR'],
      rest: '',
    })
    expect(splitAngleFrames(`< ${'x'.repeat(5000)}`).rest).toBe('')
    expect(splitStarFrames('* REPORT 1 A 1 * * REPORT 2')).toEqual([' REPORT 1 A 1 '])
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

const fieldsOf = (sample: string) => Fields.of(sample)

test('a sample with the wrong layout is null', () => {
  expect(readUlxdSample(fieldsOf('AX 100'), 0)).toBeNull()
  expect(readUlxdSample(fieldsOf('AX 100 030 1'), 0)).toBeNull()
  expect(readSlxdSample(fieldsOf('102 102'), 0)).toBeNull()
  expect(readAxientSample(fieldsOf('005 031 102 102'), 0)).toBeNull()
  expect(readAxientSample(fieldsOf('005 031 102 102 BB 31 086 31'), 0)).toBeNull()
  expect(
    readAxientSample(fieldsOf('005 031 102 102 BBBB 31 082 31 060 31 050 31 040 XXXX 31 090 31 050 31 050 31 050'), 0),
  ).toMatchObject({
    rf_level: -30,
    details: { rf_a: -30, rf_d: -70, antennas: 'ABCD' },
  })
})

test('detectFamily detects the family from the reported values', () => {
  expect(detectFamily({ MODEL: 'SLXD4QDAN+' })?.identityKeys).toContain('NET_SETTINGS SC')
  expect(detectFamily({ MODEL: 'SLXD4' })?.identityKeys).not.toContain('NET_SETTINGS SC')
  expect(detectFamily({ '1 AUDIO_MUTE': 'OFF', '1 BATT_BARS': '005' })?.name).toBe('ulxd')
  expect(detectFamily({ MAC_ADDR: '00:0E:DD:00:00:01', '1 BATT_BARS': '005' })?.name).toBe('qlxd')
  expect(detectFamily({ MODEL: 'AXT600' })).toBeNull()
  expect(detectFamily({})).toBeNull()
})

import { expect, it } from 'vitest'
import { scanOf } from './test-carriers.ts'
import { measureTvChannels } from './tv-power.ts'

const scan = (id: number, dbm: number, fromMhz: number, points: number, stepKhz = 30) => {
  const readings = Array.from({ length: points }, (_, index) => [fromMhz + (index * stepKhz) / 1000, dbm] as const)
  return scanOf(id, readings, stepKhz)
}

// Conformance: C-23.15.
it('sums the power of the readings in a channel', () => {
  expect(measureTvChannels('US', [scan(1, -107, 470, 200)])).toEqual([
    { channel: '14', dbm: -84, scan_id: 1, coverage: 1, assumed_rbw_khz: 30 },
  ])
})

it('names the share of the channel that the scan covers, and the scan with the highest power', () => {
  const powers = measureTvChannels('US', [scan(1, -107, 470, 200), scan(2, -90, 473, 150)])
  expect(powers).toEqual([
    { channel: '14', dbm: -70, scan_id: 2, coverage: 0.5, assumed_rbw_khz: 30 },
    { channel: '15', dbm: -73, scan_id: 2, coverage: 0.25, assumed_rbw_khz: 30 },
  ])
})

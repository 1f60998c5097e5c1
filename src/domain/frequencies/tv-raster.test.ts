import { expect, it } from 'vitest'
import { regions } from '../../contract/values.ts'
import { findTvChannel, listTvChannels, parseTvInUse } from './tv-raster.ts'

// Conformance: C-15.15.
it.each([
  ['US', '2', 54_000],
  ['US', '5', 76_000],
  ['US', '13', 210_000],
  ['US', '36', 602_000],
  ['US', '37', 608_000],
  ['EU', '5', 174_000],
  ['EU', '21', 470_000],
  ['EU', '48', 686_000],
  ['AU', '9A', 202_000],
  ['AU', '51', 687_000],
  ['JP', '13', 470_000],
  ['JP', '52', 704_000],
  ['NZ', '26', 510_000],
  ['BR', '36', 602_000],
  ['BR', '38', 614_000],
] as const)('%s: channel %s begins at %i kHz', (region, name, fromKhz) => {
  expect(findTvChannel(region, fromKhz)).toBe(name)
  expect(findTvChannel(region, fromKhz - 1)).not.toBe(name)
})

it('returns null outside the raster', () => {
  expect(findTvChannel('EU', 694_000)).toBeNull()
  expect(findTvChannel('EU', 469_999)).toBeNull()
  expect(findTvChannel('BR', 608_000)).toBeNull()
})

it.each(regions)('%s: channels do not overlap', (region) => {
  const channels = listTvChannels(region)
  for (const [index, { fromKhz }] of channels.entries()) {
    expect(fromKhz).toBeGreaterThanOrEqual(channels[index - 1]?.toKhz ?? 0)
  }
  expect(new Set(channels.map(({ name }) => name)).size).toBe(channels.length)
})

it('parses the channels in use', () => {
  const { inUse, unknown } = parseTvInUse('AU', ' 9a, 28,,99')
  expect(inUse.map(({ name }) => name)).toEqual(['9A', '28'])
  expect(unknown).toEqual(['99'])
})

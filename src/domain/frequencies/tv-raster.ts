/**
 * TV channels by region. Sources: the channel plans of TSDuck (`tsduck.hfbands.xml`) and the Australian plan of APWPT.
 */

import type { Region } from '../../contract/values.ts'
import type { KhzRange } from './carrier.ts'

export interface TvChannel extends KhzRange {
  /** As in the setting `TV_IN_USE`: a number, in Australia also `9A`. */
  readonly name: string
}

/** Consecutive channels of the same width. */
interface Block {
  readonly names: readonly string[]
  readonly fromKhz: number
  readonly widthKhz: number
}

const uhfOfAmerica = block(14, 36, 470_000, 6000)
const vhfOfAmerica = [block(2, 4, 54_000, 6000), block(5, 6, 76_000, 6000), block(7, 13, 174_000, 6000)]
/** Channels 49 to 60 were cleared. */
const europe = [block(5, 12, 174_000, 7000), block(21, 48, 470_000, 8000)]

const blocks: Readonly<Record<Region, readonly Block[]>> = {
  // Channel 37 is for radio astronomy and medical telemetry.
  US: [...vhfOfAmerica, uhfOfAmerica, block(37, 37, 608_000, 6000)],
  EU: europe,
  AU: [
    { names: ['6', '7', '8', '9', '9A', '10', '11', '12'], fromKhz: 174_000, widthKhz: 7000 },
    block(28, 51, 526_000, 7000),
  ],
  JP: [block(13, 52, 470_000, 6000)],
  NZ: europe,
  // Channel 37 is not used for TV, and channels 52 and higher were cleared.
  BR: [...vhfOfAmerica, uhfOfAmerica, block(38, 51, 614_000, 6000)],
}

export function listTvChannels(region: Region): readonly TvChannel[] {
  return blocks[region].flatMap(toChannels)
}

/** Returns null outside the raster. */
export function findTvChannel(region: Region, khz: number): string | null {
  return listTvChannels(region).find(({ fromKhz, toKhz }) => fromKhz <= khz && khz < toKhz)?.name ?? null
}

/** Parses the setting `TV_IN_USE`, such as `21, 24`. `unknown` lists entries that are not channels of the region. */
export function parseTvInUse(
  region: Region,
  text: string,
): { readonly inUse: readonly TvChannel[]; readonly unknown: readonly string[] } {
  const names = text
    .split(',')
    .map((name) => name.trim().toUpperCase())
    .filter((name) => name !== '')
  const channels = listTvChannels(region)
  const isKnown = (name: string) => channels.some((channel) => channel.name === name)
  return {
    inUse: channels.filter(({ name }) => names.includes(name)),
    unknown: names.filter((name) => !isKnown(name)),
  }
}

function block(first: number, last: number, fromKhz: number, widthKhz: number): Block {
  return { names: Array.from({ length: last - first + 1 }, (_, index) => String(first + index)), fromKhz, widthKhz }
}

function toChannels({ names, fromKhz, widthKhz }: Block): TvChannel[] {
  return names.map((name, index) => ({
    name,
    fromKhz: fromKhz + index * widthKhz,
    toKhz: fromKhz + (index + 1) * widthKhz,
  }))
}

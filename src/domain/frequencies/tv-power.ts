/** The power in each TV channel, which regulators limit for the whole channel and not for a single reading. */

import type { Region } from '../../contract/values.ts'
import { firstAtLeast, type MeasuredScan } from './measured.ts'
import { listTvChannels, type TvChannel } from './tv-raster.ts'

export interface TvPower {
  readonly channel: string
  readonly dbm: number
  readonly scan_id: number
  /** The share of the channel that the scan covers, from 0 to 1. */
  readonly coverage: number
  readonly assumed_rbw_khz: number
}

/** Returns the highest power of all scans for each channel that any of them covers. */
export function measureTvChannels(region: Region, scans: readonly MeasuredScan[]): readonly TvPower[] {
  return listTvChannels(region).flatMap((channel) => {
    const powers = scans.flatMap((scan) => measureTvChannel(channel, scan) ?? [])
    return powers.sort((a, b) => b.dbm - a.dbm || b.coverage - a.coverage || a.scan_id - b.scan_id)[0] ?? []
  })
}

/** The sum of mW × step / resolution bandwidth. Files do not name the bandwidth, so it is assumed to equal the step. */
function measureTvChannel(
  { name, fromKhz, toKhz }: TvChannel,
  { id, khz, tenthsDbm, stepKhz }: MeasuredScan,
): TvPower | null {
  let milliwatts = 0
  let points = 0
  for (let index = firstAtLeast(khz, fromKhz); index < khz.length && (khz[index] as number) < toKhz; index++) {
    milliwatts += 10 ** ((tenthsDbm[index] as number) / 100)
    points++
  }
  if (points === 0) return null
  return {
    channel: name,
    dbm: Math.round(100 * Math.log10(milliwatts)) / 10,
    scan_id: id,
    coverage: Math.min(1, Math.round((1000 * points * stepKhz) / (toKhz - fromKhz)) / 1000),
    assumed_rbw_khz: stepKhz,
  }
}

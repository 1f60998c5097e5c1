import type { Levels } from '../scans/scan.ts'
import type { NewScan } from '../scans/stored-scan.ts'
import { type Sweep, unmeasured } from './sweep.ts'

/** Converts levels to those of a scan, which has whole kHz: of several in one, the highest. */
export function toKeptScan(
  { fromMhz, stepMhz, tenthsDbm, isCalibrated, startedAt }: Sweep,
  kept: Pick<NewScan, 'name' | 'uploaded_at' | 'by'>,
): { readonly scan: NewScan; readonly levels: Levels } {
  const byKhz = new Map<number, number>()
  for (const [index, level] of tenthsDbm.entries()) {
    const khz = Math.round((fromMhz + index * stepMhz) * 1000)
    if (level !== unmeasured) byKhz.set(khz, Math.max(byKhz.get(khz) ?? unmeasured, level))
  }
  const khz = Uint32Array.from(byKhz.keys())
  const [from_khz = 0, to_khz = 0] = [khz[0], khz.at(-1)]
  return {
    scan: {
      ...kept,
      ...{ format: 'sweeps', unit: isCalibrated ? 'dBm' : 'dB', isCalibrated, points: khz.length, from_khz, to_khz },
      step_hz: Math.max(1, Math.round(stepMhz * 1e6)),
      taken_at: startedAt,
    },
    levels: { khz, tenthsDbm: Int16Array.from(byKhz.values()) },
  }
}

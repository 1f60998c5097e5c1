import type { ScanBody, ScanLevelsBody, UploadedScanBody } from '../../../contract/scans.ts'
import type { ScanFormat } from '../../../contract/values.ts'
import { toTimestamp } from '../../timestamp.ts'
import { type Levels, type ReadScan, withOffset } from './scan.ts'

/** Without its levels. */
export interface Scan {
  readonly id: number
  readonly name: string
  readonly format: ScanFormat
  readonly points: number
  readonly from_khz: number
  readonly to_khz: number
  /** Null in scans of versions that did not store the unit and the step. */
  readonly unit: string | null
  readonly isCalibrated: boolean
  readonly step_hz: number | null
  readonly taken_at: number | null
  readonly uploaded_at: number
  readonly by: string
}

export type NewScan = Omit<Scan, 'id'>

interface Upload {
  readonly name: string
  readonly offsetDb: number
  readonly uploaded_at: number
  readonly by: string
}

export function toNewScan(
  { khz, tenthsDbm, format, unit, isCalibrated, stepKhz, takenAt }: ReadScan,
  { offsetDb, ...upload }: Upload,
): { readonly scan: NewScan; readonly levels: Levels } {
  const [from_khz = 0, to_khz = 0] = [khz[0], khz.at(-1)]
  return {
    scan: {
      ...upload,
      ...{ format, unit, isCalibrated, points: khz.length, from_khz, to_khz },
      step_hz: Math.round(stepKhz * 1000),
      taken_at: takenAt,
    },
    levels: { khz, tenthsDbm: withOffset(tenthsDbm, offsetDb) },
  }
}

export function toScanBody(stored: Scan): ScanBody {
  const { from_khz, to_khz, step_hz, isCalibrated, taken_at, uploaded_at, by, ...scan } = stored
  return {
    ...scan,
    from_mhz: toMhz(from_khz),
    to_mhz: toMhz(to_khz),
    step_khz: step_hz === null ? null : step_hz / 1000,
    calibrated: isCalibrated,
    taken_at: taken_at === null ? null : toTimestamp(taken_at),
    uploaded_at: toTimestamp(uploaded_at),
    by,
  }
}

export function toUploadedScanBody(scan: Scan, { rowsRead, rowsSkipped }: ReadScan): UploadedScanBody {
  return { ...toScanBody(scan), rows_read: rowsRead, rows_skipped: rowsSkipped }
}

export function toScanLevelsBody(scan: Scan, { khz, tenthsDbm }: Levels): ScanLevelsBody {
  return {
    ...toScanBody(scan),
    mhz: Array.from(khz, toMhz),
    dbm: Array.from(tenthsDbm, (tenths) => tenths / 10),
  }
}

/** With three decimal places. */
function toMhz(khz: number): string {
  return `${Math.floor(khz / 1000)}.${String(khz % 1000).padStart(3, '0')}`
}

import type { ScanBody, ScanLevelsBody, UploadedScanBody } from '../../../contract/scans.ts'
import type { ScanFormat } from '../../../contract/values.ts'
import { toTimestamp } from '../../timestamp.ts'
import type { Unstored } from '../../versions.ts'
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
  readonly version: number
}

export type NewScan = Unstored<Scan>

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

// The stored form of the levels of a scan. Each point consists of two numbers: the differences of its frequency (kHz)
// and its level (tenths of a dB) from the previous point. Numbers have seven bits per byte, lowest first; the highest
// bit is set in all bytes but the last. Signed numbers alternate: 0, -1, 1, -2 and so on. Most points take two bytes.

/** A difference of frequencies takes at most 5 bytes, that of levels at most 3. */
const maxPointBytes = 8

export function packLevels({ khz, tenthsDbm }: Levels): Uint8Array {
  const bytes = new Uint8Array(khz.length * maxPointBytes)
  let length = 0
  const write = (value: number) => {
    let rest = value
    for (; rest > 0x7f; rest >>>= 7) bytes[length++] = (rest & 0x7f) | 0x80
    bytes[length++] = rest
  }
  let [lastKhz, lastLevel] = [0, 0]
  for (const [index, frequency] of khz.entries()) {
    const level = tenthsDbm[index] ?? 0
    const change = level - lastLevel
    write(frequency - lastKhz)
    write(change < 0 ? -2 * change - 1 : 2 * change)
    lastKhz = frequency
    lastLevel = level
  }
  return bytes.slice(0, length)
}

export function unpackLevels(bytes: Uint8Array, points: number): Levels {
  const khz = new Uint32Array(points)
  const tenthsDbm = new Int16Array(points)
  let at = 0
  const read = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
  }
  let [frequency, level] = [0, 0]
  for (let index = 0; index < points; index += 1) {
    frequency += read()
    const change = read()
    level += change & 1 ? -(change + 1) / 2 : change / 2
    khz[index] = frequency
    tenthsDbm[index] = level
  }
  return { khz, tenthsDbm }
}

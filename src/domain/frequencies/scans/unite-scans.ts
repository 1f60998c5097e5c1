/** Unites the scans of several files, for instance the parts of a range that an analyser with few points has measured. */

import {
  maxListedRows,
  maxScanPoints,
  type ReadScan,
  ScanFileError,
  type SkippedRow,
  stepOf,
  tooManyPoints,
} from './scan.ts'

export interface NamedScan {
  readonly name: string
  readonly scan: ReadScan
}

/**
 * Returns a scan with all frequencies, and the highest level at each. It was taken when the earliest was. Throws a
 * `ScanFileError` if relative levels would be mixed with others.
 */
export function uniteScans(files: readonly NamedScan[]): ReadScan {
  const [first, ...others] = files
  if (first === undefined) throw new ScanFileError('There is no file.')
  if (others.length === 0) return first.scan
  const scans = files.map(({ scan }) => scan)
  requireSameReference(files)
  const levels = new Map<number, number>()
  for (const { khz, tenthsDbm } of scans) {
    for (const [index, frequency] of khz.entries()) {
      const level = tenthsDbm[index] ?? 0
      if (level > (levels.get(frequency) ?? Number.NEGATIVE_INFINITY)) levels.set(frequency, level)
    }
    if (levels.size > maxScanPoints) throw tooManyPoints()
  }
  const khz = Uint32Array.from(levels.keys()).sort()
  const times = scans.flatMap(({ takenAt }) => takenAt ?? [])
  const { format, unit, isCalibrated } = first.scan
  return {
    khz,
    tenthsDbm: Int16Array.from(khz, (frequency) => levels.get(frequency) ?? 0),
    format: scans.every((scan) => scan.format === format) ? format : 'mixed',
    unit: scans.every((scan) => scan.unit === unit) ? unit : 'dBm',
    isCalibrated,
    stepKhz: commonStep(scans) ?? stepOf(Float64Array.from(khz)),
    takenAt: times.length === 0 ? null : Math.min(...times),
    rowsRead: scans.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
    rowsSkipped: uniteSkipped(files),
  }
}

function requireSameReference(files: readonly NamedScan[]): void {
  const [first] = files
  const other = files.find(({ scan }) => scan.isCalibrated !== first?.scan.isCalibrated)
  if (other === undefined || first === undefined) return
  const [relative, absolute] = other.scan.isCalibrated ? [first, other] : [other, first]
  throw new ScanFileError(
    `${relative.name} has relative levels, ${absolute.name} has levels in dBm. Upload them as separate scans.`,
  )
}

function commonStep([first, ...others]: readonly ReadScan[]): number | null {
  return first !== undefined && others.every(({ stepKhz }) => stepKhz === first.stepKhz) ? first.stepKhz : null
}

function uniteSkipped(files: readonly NamedScan[]): readonly SkippedRow[] {
  const all = files.flatMap(({ name, scan }) => scan.rowsSkipped.map((row) => ({ file: name, ...row })))
  const listed = all.slice(0, maxListedRows)
  const last = listed.at(-1)
  if (last === undefined || all.length === listed.length) return all
  return [...listed, { ...last, why: `${all.length - listed.length} more rows after this one were skipped.` }]
}

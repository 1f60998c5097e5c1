/** Reads the columns of a table from the names and units in its heading. */

import { ScanFileError } from './scan.ts'
import { parseDecimal, quote } from './scan-text.ts'
import { dbmOffset, isFrequencyUnit, unitIn, unsupportedLevels } from './units.ts'

export interface Column {
  readonly index: number
  /** As written in the heading; null if absent. */
  readonly unit: string | null
}

export interface Columns {
  /** At least one. Several contain the same frequency in different units. */
  readonly frequencies: readonly Column[]
  /** At least one. Several are traces of the same scan. */
  readonly levels: readonly Column[]
  /** A unit of levels in another column that cannot be converted. */
  readonly otherUnit: string | null
}

const frequencyName = /fr(?:e|[^ -~]{1,2})[qc]|^f$|(?:^|_)x\d*$/i
const otherFrequency = /rbw|vbw|width|step|span|spacing|offset|resolution/i
const levelName =
  /level|ampl|power|magn|rssi|signal|strength|trace|sweep|max|min|peak|hold|avg|average|mean|live|current|ant|pegel|niveau|nivel|value|(?:^|_)y\d*$/i
const otherLevel = /squelch|memory|threshold|limit|mask|\bref|noise.?floor|count|index/i

interface Heading extends Column {
  readonly name: string
}

/** Returns null if the cells do not name a frequency and a level. `line` is for error messages. */
export function readHeading(cells: readonly string[], line: number): Columns | null {
  if (cells.some((cell) => parseDecimal(cell) !== null)) return null
  const headings = cells.map((name, index): Heading => ({ index, name, unit: unitIn(name) }))
  const frequencies = headings.filter(isFrequency)
  const levels = headings.filter((heading) => !frequencies.includes(heading) && isLevel(heading))
  if (frequencies.length === 0 || levels.length === 0) return null
  const usable = levels.filter(({ unit }) => unit === null || dbmOffset(unit) !== null)
  const otherUnit = levels.find(({ unit }) => unit !== null && dbmOffset(unit) === null)?.unit ?? null
  if (usable.length === 0) throw unsupportedLevels(otherUnit ?? '')
  if (usable.length > 1 && !usable.every(({ name }) => levelName.test(name))) {
    const names = usable.map(({ name }) => quote(name)).join(' and ')
    throw new ScanFileError(`Line ${line}: ${names} may contain the level. Export only one of these columns.`)
  }
  return { frequencies, levels: usable, otherUnit }
}

function isFrequency({ name, unit }: Heading): boolean {
  return !otherFrequency.test(name) && (isFrequencyUnit(unit) || (!isDecibels(unit) && frequencyName.test(name)))
}

function isLevel({ name, unit }: Heading): boolean {
  return !(otherLevel.test(name) || otherFrequency.test(name)) && (isDecibels(unit) || levelName.test(name))
}

function isDecibels(unit: string | null): boolean {
  return unit !== null && /^(dB|%|percent|[munp]?[VW]$)/i.test(unit)
}

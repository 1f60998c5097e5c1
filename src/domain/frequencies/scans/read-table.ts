/**
 * Reads tables of frequencies and levels: the plain format of Wireless Workbench, RF Explorer, tinySA and others, and
 * the exports of Wireless Systems Manager, Rohde & Schwarz and Keysight. A heading names the columns. Without one, each
 * line has a frequency and a level.
 */

import type { ScanFormat } from '../../../contract/values.ts'
import { type ReadScan, ScanFileError, ScanReadings, type SkippedRow } from './scan.ts'
import {
  cellsOf,
  type Delimiter,
  dbmOffset,
  guessKhz,
  isFrequencyUnit,
  isUnmeasured,
  khzIn,
  type Line,
  linesOf,
  Preamble,
  parseDecimal,
  quote,
  requireDbmOffset,
  unitIn,
  unsupportedLevels,
} from './scan-text.ts'

/** The maximum number of lines before the first reading. */
const maxPreambleLines = 500
/** Longer lines are not headings. */
const maxHeadingLength = 10_000
const delimiters = [';', '\t', ','] as const

interface Table {
  readonly format: ScanFormat
  readonly delimiter: Delimiter
  readonly columns: Columns
  readonly columnCount: number
  readonly preamble: Preamble
  /** The line that names the columns. */
  readonly heading: string | null
}

interface Row {
  readonly line: number
  /** The text in each column of frequencies. */
  readonly frequencies: readonly string[]
  /** The highest level in each column of levels, in its unit; null if nothing was measured. */
  readonly levels: readonly (number | null)[]
}

export function readTable(text: string): ReadScan {
  const readings = new ScanReadings()
  const preamble = new Preamble()
  const rows: Row[] = []
  /** Lines of text, which are damaged rows if another row follows. */
  let foot: SkippedRow[] = []
  let table: Table | null = null
  for (const line of linesOf(text)) {
    if (table === null) {
      table = openTable(line, preamble)
      if (table === null && line.number > maxPreambleLines) break
      if (table === null || table.heading !== null) continue
    }
    if (isEnd(line, readings)) break
    if (/^[#!]/.test(line.text) || line.text === table.heading) continue
    const cells = joinDecimals(cellsOf(line.text, table.delimiter), table.delimiter, table.columnCount)
    if (cells.length === 0) continue
    const row = toRow(line.number, cells, table)
    if ('why' in row && isFoot(cells, table)) {
      foot.push(row)
      continue
    }
    for (const skipped of foot) readings.skip(skipped.line, skipped.why)
    foot = []
    if ('why' in row) readings.skip(row.line, row.why)
    else rows.push(row)
  }
  if (table === null) throw new ScanFileError('No line contains a frequency and a level, such as 470.025,-98.5.')
  const unit = addRows(table, rows, readings)
  if (rows.length > 0 && readings.rowsRead === 0 && table.columns.otherUnit !== null) {
    throw unsupportedLevels(table.columns.otherUnit)
  }
  return readings.toScan({ format: table.format, unit, takenAt: preamble.takenAt })
}

/** Returns the table that begins with this line, its heading or its first row; null before it. */
function openTable({ number, text }: Line, preamble: Preamble): Table | null {
  const content = text.replace(/^[#!%/]+\s*/, '').slice(0, maxHeadingLength)
  for (const delimiter of delimiters) {
    if (!content.includes(delimiter)) continue
    const cells = cellsOf(content, delimiter)
    const columns = readHeading(cells, number)
    if (columns === null) continue
    const format = formatOf(preamble, text)
    return { format, delimiter, columns, columnCount: cells.length, preamble, heading: text }
  }
  const delimiter = text.startsWith('#') ? null : delimiterOf(text)
  if (delimiter !== null) {
    const format = formatOf(preamble, '')
    // The detector "auto peak" of Rohde & Schwarz writes the highest and the lowest level.
    const levels = format === 'rohde_schwarz' && cellsOf(text, delimiter).length === 3 ? [1, 2] : [1]
    const columns = { frequencies: [unnamed(0)], levels: levels.map(unnamed), otherUnit: null }
    return { format, delimiter, columns, columnCount: levels.length + 1, preamble, heading: null }
  }
  preamble.add(text)
  return null
}

const unnamed = (index: number): Column => ({ index, unit: null })

function formatOf(preamble: Preamble, heading: string): ScanFormat {
  if (/^"?Frequency"?;"?RF level/i.test(heading) || preamble.has(/^"?(Receiver"?;|Frequency Range \[kHz\])/))
    return 'wsm'
  if (preamble.has(/^[xy]-Unit;/i)) {
    if (preamble.has(/^Frames?;/)) throw new ScanFileError('Spectrograms are not supported. Export a trace.')
    return 'rohde_schwarz'
  }
  return preamble.has(/^! FILETYPE CSV|^[XY] Axis Units?[,;]/i) ? 'keysight' : 'csv'
}

/** Returns the delimiter of a line that begins with a number and contains a level; null for any other line. */
function delimiterOf(line: string): Delimiter | null {
  if (!/^"?\+?[\d.]/.test(line)) return null
  for (const delimiter of [...delimiters, ' '] as const) {
    if (!line.includes(delimiter)) continue
    const [frequency = '', level = ''] = joinDecimals(cellsOf(line, delimiter), delimiter, 2)
    if (parseDecimal(frequency) !== null && level !== '' && (levelsIn(level) !== null || isUnmeasured(level))) {
      return delimiter
    }
  }
  return null
}

/** Joins the parts of numbers with a decimal comma that are also separated by a comma: `470,025,-98,5`. */
function joinDecimals(cells: string[], delimiter: Delimiter, columns: number): string[] {
  if (delimiter !== ',' || cells.length !== columns * 2) return cells
  const isSplit = cells.every((cell, index) => (index % 2 === 0 ? /^[+-]?\d+$/ : /^\d+$/).test(cell))
  return isSplit ? cells.flatMap((cell, index) => (index % 2 === 0 ? `${cell}.${cells[index + 1]}` : [])) : cells
}

/** Returns true at the end of the data. Further traces are not read and are listed as skipped. */
function isEnd({ number, text }: Line, readings: ScanReadings): boolean {
  const isTrace = /^Trace\s*\d+/i.test(text)
  if (isTrace) readings.skip(number, 'Only the first trace is read.', 'unmeasured')
  return isTrace || /^(END|# ?Data Done)$/i.test(text)
}

/** Exports of Wireless Systems Manager end with lines of text. */
function isFoot(cells: readonly string[], { format, columns }: Table): boolean {
  const values = [...columns.frequencies, ...columns.levels].map(({ index }) => cells[index] ?? '')
  return format === 'wsm' && values.every((value) => parseDecimal(value) === null)
}

/** Returns the row in a line, or why it cannot be read. */
function toRow(line: number, cells: readonly string[], { columns, columnCount, heading }: Table): Row | SkippedRow {
  if (heading === null && cells.length > columnCount) {
    return { line, why: `Expected a frequency and a level, found ${cells.length} columns.` }
  }
  const frequencies = columns.frequencies.map(({ index }) => cells[index] ?? '')
  const levels = columns.levels.map(({ index }) => cells[index] ?? '')
  const values = levels.map((level) => (isUnmeasured(level) ? null : levelsIn(level)))
  const named = frequencies.filter((cell) => cell !== '')
  const wrongFrequency = named.length === 0 ? '' : named.find((cell) => parseDecimal(cell) === null)
  const wrongLevel = levels.find((level, index) => !isUnmeasured(level) && values[index] === null)
  if (wrongFrequency === undefined && wrongLevel === undefined) {
    return { line, frequencies, levels: values.map((value) => value && Math.max(...value)) }
  }
  const other = readHeading(cells, line)
  if (other !== null && [...other.frequencies, ...other.levels].some(({ unit }) => unit !== null)) {
    throw new ScanFileError(`Line ${line}: the columns change here. Upload each part as a file of its own.`)
  }
  const why =
    wrongFrequency === undefined
      ? `${quote(wrongLevel ?? '')} is not a level.`
      : `${quote(wrongFrequency)} is not a frequency.`
  return { line, why }
}

/**
 * Returns the levels in a cell. A tinySA writes several traces into one cell, separated by spaces, each with decimals.
 * Other numbers with a space are a frequency and a level with decimal commas.
 */
function levelsIn(cell: string): number[] | null {
  const parts = cell.split(/ +/)
  const levels = parts.map(parseDecimal).filter((level) => level !== null)
  const isComplete = levels.length === parts.length && (parts.length === 1 || parts.every((part) => part.includes('.')))
  return isComplete ? levels : null
}

/** Adds the rows in kHz and dBm. Returns the unit of the levels. */
function addRows({ columns, preamble, heading }: Table, rows: readonly Row[], readings: ScanReadings): string {
  const units = columns.frequencies.map(({ unit }, index) => {
    const named = unit ?? preamble.frequencyUnit
    const numbers = () => rows.flatMap(({ frequencies }) => parseDecimal(frequencies[index] ?? '') ?? [])
    return named === null ? guessKhz(numbers()) : khzIn(named)
  })
  const named = columns.levels.find(({ unit }) => unit !== null)?.unit ?? preamble.levelUnit()
  if (named === null && !(preamble.isEmpty && heading === null)) requireDbmRange(rows)
  const offsets = columns.levels.map(({ unit }) => requireDbmOffset(unit ?? named ?? 'dBm'))
  for (const { line, frequencies, levels } of rows) {
    const khz = agreedKhz(frequencies, units)
    const dbm = levels.flatMap((level, index) => (level === null ? [] : level + (offsets[index] ?? 0)))
    if (khz === null) readings.skip(line, 'The frequencies in this line differ.')
    else readings.add(line, [khz], [dbm.length === 0 ? null : Math.max(...dbm)])
  }
  return named ?? 'dBm'
}

/** Levels whose unit a heading does not name are accepted as dBm only within this range. */
const [lowestDbm, highestDbm] = [-180, 30]

function requireDbmRange(rows: readonly Row[]): void {
  for (const { line, levels } of rows) {
    const level = levels.find((value) => value !== null && !(value >= lowestDbm && value <= highestDbm))
    if (level === undefined) continue
    const heading = 'Name the unit in the heading, such as "Level (dBm)".'
    throw new ScanFileError(`Line ${line}: the unit of the levels is not known, and ${level} is not in dBm. ${heading}`)
  }
}

/** Returns the frequency in all columns, as exactly as it is written; null if they differ. */
function agreedKhz(frequencies: readonly string[], units: readonly number[]): number | null {
  const values = frequencies.flatMap((text, index) => {
    const unit = units[index] ?? 1
    const number = parseDecimal(text)
    return number === null ? [] : { khz: number * unit, precision: unit * 10 ** -decimalsOf(text) }
  })
  const [best, ...others] = values.sort((one, other) => one.precision - other.precision)
  const doAgree = others.every(
    ({ khz, precision }) => Math.abs(khz - (best?.khz ?? 0)) <= Math.max(1, precision * 0.51),
  )
  return doAgree ? (best?.khz ?? null) : null
}

const decimalsOf = (text: string): number => /[.,](\d*)$/.exec(text)?.[1]?.length ?? 0

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
function readHeading(cells: readonly string[], line: number): Columns | null {
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

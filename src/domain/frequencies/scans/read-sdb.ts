/**
 * Reads scans of Shure Wireless Workbench: XML with a list of frequencies and one or more lists of levels (`.sdb2`), and
 * timelines (`.sdb3`).
 */

import { SaxesParser } from 'saxes'
import { maxScanPoints, type ReadScan, ScanFileError, ScanReadings, tooManyPoints } from './scan.ts'
import {
  decodeLatin1,
  isUnmeasured,
  khzIn,
  normalizeUnits,
  parseDecimal,
  parseLocalTime,
  quote,
  requireDbmOffset,
} from './scan-text.ts'

/** The format has four levels of elements. */
const maxDepth = 10
/** The latest time that a Date can express. */
const latestTime = 8.64e15

export function isXml(text: string): boolean {
  return /^\s*<[?!a-z]/i.test(text.slice(0, 1000))
}

export function readSdb2(text: string): ReadScan {
  const reader = new Sdb2Reader()
  const parser = new SaxesParser()
  let depth = 0
  let content = ''
  parser.on('error', () => {
    throw new ScanFileError(`Line ${parser.line}: the file is not well-formed XML, or is not complete.`)
  })
  parser.on('doctype', (type) => {
    if (type.trim() === 'WSM') throw coordinationFile()
    throw new ScanFileError('Files with a document type (DOCTYPE) are not read.')
  })
  parser.on('opentag', ({ name, attributes }) => {
    depth += 1
    if (depth > maxDepth) throw new ScanFileError(`Line ${parser.line}: elements are nested too deep.`)
    content = ''
    reader.open(name, attributes)
  })
  parser.on('text', (part) => {
    content += part
  })
  parser.on('closetag', ({ name }) => {
    depth -= 1
    reader.close(name, content.trim(), parser.line)
    content = ''
  })
  parser.write(text).close()
  return reader.scan()
}

function coordinationFile(): ScanFileError {
  return new ScanFileError(
    'The file contains a frequency coordination, not a scan. Export the scan from the same program.',
  )
}

type Attributes = Readonly<Record<string, string>>

class Sdb2Reader {
  readonly #readings = new ScanReadings()
  #isScan = false
  #noData: number | null = null
  #takenAt: number | null = null
  /** In the unit of the list of levels that follows. */
  #frequencies: number[] = []
  #khz = 1
  #unit = 'dBm'
  #scale = 1
  #levels = 0
  #sets = 0

  open(name: string, attributes: Attributes): void {
    if (/^(show|coord_workspace_ex_root|WSM)$/.test(name)) throw coordinationFile()
    if (name === 'scan_data_source') {
      this.#isScan = true
      this.#takenAt = parseLocalTime(attributes.date ?? '', attributes.time ?? '')
    } else if (name === 'data_sets') this.#noData = parseDecimal(attributes.no_data_value ?? '')
    else if (name === 'freq_set') this.#frequencies = []
    else if (name === 'data_set') this.#openLevels(attributes)
  }

  close(name: string, content: string, line: number): void {
    if (name === 'f') this.#addFrequency(content, line)
    else if (name === 'v') this.#addLevel(content, line)
    else if (name === 'data_set' && this.#levels < this.#frequencies.length) {
      const counts = `${this.#frequencies.length} levels, found ${this.#levels}`
      throw new ScanFileError(`Line ${line}: expected ${counts}.`)
    }
  }

  scan(): ReadScan {
    if (!this.#isScan) throw new ScanFileError('The file is XML, but not a scan of Wireless Workbench.')
    return this.#readings.toScan({ format: 'sdb2', unit: this.#unit, takenAt: this.#takenAt })
  }

  #openLevels({ freq_units = 'KHz', ampl_units = 'dBm', scale_factor = '1', date_time = '' }: Attributes): void {
    this.#khz = khzIn(freq_units)
    this.#unit = normalizeUnits(ampl_units)
    requireDbmOffset(this.#unit)
    this.#scale = parseDecimal(scale_factor) ?? 0
    if (this.#scale <= 0) throw new ScanFileError(`The scale factor ${quote(scale_factor)} is not a positive number.`)
    const time = /^\d{1,16}$/.test(date_time) ? Number(date_time) : latestTime
    if (this.#sets === 0 && time > 0 && time < latestTime) this.#takenAt = time
    this.#sets += 1
    this.#levels = 0
  }

  #addFrequency(content: string, line: number): void {
    const frequency = parseDecimal(content)
    if (frequency === null) throw new ScanFileError(`Line ${line}: ${quote(content)} is not a frequency.`)
    this.#frequencies.push(frequency)
    if (this.#frequencies.length > maxScanPoints) throw tooManyPoints()
  }

  #addLevel(content: string, line: number): void {
    const frequency = this.#frequencies[this.#levels]
    if (frequency === undefined) throw new ScanFileError(`Line ${line}: there are more levels than frequencies.`)
    this.#levels += 1
    const level = parseDecimal(content)
    if (isUnmeasured(content) || level === this.#noData) return
    if (level === null) this.#readings.skip(line, `${quote(content)} is not a level.`)
    else this.#readings.add(line, [frequency * this.#khz], [level / this.#scale + requireDbmOffset(this.#unit)])
  }
}

// Reads timelines of Shure Wireless Workbench (`.sdb3`): a JSON header, then binary records, each with one sweep and
// a checksum. Numbers are big-endian.

const signature = bytesOf('//@ShureScan')
const dataMark = bytesOf('@Binary:')
const sweepMark = bytesOf('@Swp')
const endMarks = [bytesOf('@Extended:'), bytesOf('@End')]
const maxHeaderBytes = 1024 * 1024
/** The mark, the id and the time of a sweep. */
const sweepHeadBytes = 12
const checksumBytes = 2

interface Timeline {
  /** The frequency of each sample. */
  readonly khz: Float64Array
  /** Samples per dB. */
  readonly scale: number
  /** Marks a sample without a measurement. */
  readonly noData: number
  readonly unit: string
  readonly takenAt: number | null
}

export function isSdb3(bytes: Uint8Array): boolean {
  return hasAt(bytes, 0, signature)
}

export function readSdb3(bytes: Uint8Array): ReadScan {
  const dataAt = find(bytes.subarray(0, maxHeaderBytes), dataMark, 0)
  if (dataAt === -1) throw new ScanFileError('The header does not end with "@Binary:".')
  const timeline = readHeader(decodeLatin1(bytes.subarray(signature.length, dataAt)))
  const readings = new ScanReadings()
  addSweeps(bytes, dataAt + dataMark.length, timeline, readings)
  return readings.toScan({ format: 'sdb3', unit: timeline.unit, takenAt: timeline.takenAt })
}

/** Adds all sweeps, including those that hold the peaks of earlier ones. */
function addSweeps(bytes: Uint8Array, from: number, timeline: Timeline, readings: ScanReadings): void {
  const { khz, scale, noData, unit } = timeline
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const length = sweepHeadBytes + khz.length * 2 + checksumBytes
  // The highest samples are found first, because the records contain many more samples than there are frequencies.
  const highest = new Int16Array(khz.length).fill(noData)
  let sweeps = 0
  let complete = 0
  let start = find(bytes, sweepMark, from)
  while (start !== -1) {
    sweeps += 1
    const end = start + length - checksumBytes
    if (start + length > bytes.length) readings.skip(sweeps, 'The file ends within this sweep.')
    else if (checksumOf(bytes, start, end) !== view.getUint16(end)) readings.skip(sweeps, 'Its checksum is wrong.')
    else {
      for (let index = 0; index < khz.length; index += 1) {
        const sample = view.getInt16(start + sweepHeadBytes + index * 2)
        if (sample !== noData && (highest[index] === noData || sample > (highest[index] ?? 0))) highest[index] = sample
      }
      complete += 1
    }
    const next = start + length
    if (endMarks.some((mark) => hasAt(bytes, next, mark))) break
    start = find(bytes, sweepMark, next)
  }
  const offset = requireDbmOffset(unit)
  const dbm = Array.from(highest, (sample) => (sample === noData ? null : sample / scale + offset))
  if (complete > 0) readings.add(1, khz, dbm, complete)
}

type Fields = Readonly<Record<string, unknown>>

function readHeader(text: string): Timeline {
  const header = parseHeader(text)
  const scale = header['Scale Factor'] ?? 10
  const noData = header.NoDataValue ?? -1400
  if (typeof scale !== 'number' || !(scale > 0)) throw inHeader('Scale Factor', 'a positive number')
  if (typeof noData !== 'number' || !Number.isInteger(noData) || Math.abs(noData) > 32_767) {
    throw inHeader('NoDataValue', 'a whole number of 16 bits')
  }
  if ((header.BitWidth ?? 16) !== 16) throw inHeader('BitWidth', '16')
  const unit = normalizeUnits(String(header.AmplUnits ?? 'dBm'))
  requireDbmOffset(unit)
  const khzPerUnit = khzIn(String(header.FreqUnits ?? 'KHz'))
  const khz = Float64Array.from(frequenciesIn(header), (frequency) => frequency * khzPerUnit)
  return { khz, scale, noData, unit, takenAt: parseLocalTime(String(header.StartDate), String(header.StartTime)) }
}

function parseHeader(text: string): Fields {
  try {
    const parsed: unknown = JSON.parse(text)
    if (isFields(parsed)) return parsed
  } catch {
    // The error below applies.
  }
  throw new ScanFileError('The header before "@Binary:" is not valid JSON.')
}

/** Returns the frequency of each sample of a sweep. */
function frequenciesIn({ BinarySchema: schema }: Fields): number[] {
  const parts = Array.isArray(schema) ? schema : []
  const curves = parts.filter((part) => isFields(part) && part.Curve !== undefined).map(({ Curve }) => Curve)
  const [curve] = curves
  if (curves.length !== 1 || !isFields(curve)) throw inHeader('BinarySchema', 'a list with one Curve')
  const ranges = curve.FreqRanges
  if (!Array.isArray(ranges) || ranges.length === 0) throw inHeader('FreqRanges', 'a list of ranges')
  const frequencies: number[] = []
  for (const range of ranges) {
    const { StartFreq: start, EndFreq: end, StepFreq: step } = isFields(range) ? range : {}
    if (typeof start !== 'number' || typeof end !== 'number' || typeof step !== 'number' || !(end >= start && step > 0))
      throw inHeader('FreqRanges', 'StartFreq, EndFreq and a positive StepFreq, with the end not below the start')
    // The end may be inexact, because steps may have fractions.
    const count = Math.floor((end - start) / step + 0.001) + 1
    if (frequencies.length + count > maxScanPoints) throw tooManyPoints()
    for (let index = 0; index < count; index += 1) frequencies.push(start + index * step)
  }
  return frequencies
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function inHeader(field: string, expected: string): ScanFileError {
  return new ScanFileError(`${field} in the header: expected ${expected}.`)
}

/** CRC-16/ARC. */
function checksumOf(bytes: Uint8Array, start: number, end: number): number {
  let checksum = 0
  for (let index = start; index < end; index += 1) {
    checksum = (checksum >>> 8) ^ (checksumTable[(checksum ^ (bytes[index] ?? 0)) & 0xff] ?? 0)
  }
  return checksum
}

const checksumTable = Uint16Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit += 1) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xa001 : remainder >>> 1
  return remainder
})

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

/** Returns the position of the mark at or after `from`, or -1. */
function find(bytes: Uint8Array, mark: Uint8Array, from: number): number {
  const [first = 0] = mark
  for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
    if (hasAt(bytes, at, mark)) return at
  }
  return -1
}

function hasAt(bytes: Uint8Array, at: number, mark: Uint8Array): boolean {
  return mark.every((byte, index) => bytes[at + index] === byte)
}

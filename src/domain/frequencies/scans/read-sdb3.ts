/**
 * Reads timelines of Shure Wireless Workbench (`.sdb3`): a JSON header, then binary records, each with one sweep and a
 * checksum. Numbers are big-endian.
 */

import { maxScanPoints, type ReadScan, ScanFileError, ScanReadings, tooManyPoints } from './scan.ts'
import { decodeLatin1, parseLocalTime } from './scan-text.ts'
import { khzIn, normalizeUnits, requireDbmOffset } from './units.ts'

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
      throw inHeader('FreqRanges', 'StartFreq, EndFreq and a positive StepFreq, with the start before the end')
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

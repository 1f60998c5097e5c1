/**
 * Reads the sweeps that the PC client of RF Explorer saves as `.rfe`. Numbers are little-endian; text begins with its
 * length. Sweeps are compressed since version 3.
 */

import { type ReadScan, ScanFileError, ScanReadings } from './scan.ts'
import { decodeLatin1 } from './scan-text.ts'

/** Decompresses gzip. Throws if the result exceeds `maxBytes`. */
export type Gunzip = (bytes: Uint8Array, maxBytes: number) => Uint8Array

const signature = /^.RFExplorer PC Client - Format v(\d{3})$/s
const signatureBytes = 35
const maxSweepBytes = 256 * 1024 * 1024

export function isRfe(bytes: Uint8Array): boolean {
  return decodeLatin1(bytes.subarray(1, 21)) === 'RFExplorer PC Client'
}

export function readRfe(bytes: Uint8Array, gunzip: Gunzip): ReadScan {
  const version = Number(signature.exec(decodeLatin1(bytes.subarray(0, signatureBytes)))?.[1])
  if (!(version >= 1 && version <= 5)) {
    throw new ScanFileError('This version of .rfe is not supported. Save the sweeps as CSV.')
  }
  const file = new BinaryReader(bytes, signatureBytes)
  try {
    const [startMhz, stepMhz] = [file.double(), file.double()]
    const sweeps = version === 1 ? file.uint16() : file.uint32()
    const points = file.uint16()
    for (let text = 0; version >= 2 && text < 2; text += 1) file.skip(file.textLength())
    const khz = Array.from({ length: points }, (_, index) => (startMhz + index * stepMhz) * 1000)
    const data = version < 3 ? file : decompress(file, gunzip)
    return readSweeps(data, version, sweeps, khz)
  } catch (error) {
    if (error instanceof RangeError) throw new ScanFileError('The file ends before its first sweep.')
    throw error
  }
}

function decompress(file: BinaryReader, gunzip: Gunzip): BinaryReader {
  file.skip(4)
  const compressed = file.bytes(file.uint32())
  try {
    return new BinaryReader(gunzip(compressed, maxSweepBytes), 0)
  } catch {
    throw new ScanFileError('The compressed sweeps are damaged. Save the sweeps as CSV.')
  }
}

function readSweeps(data: BinaryReader, version: number, sweeps: number, khz: readonly number[]): ReadScan {
  const readings = new ScanReadings()
  let takenAt: number | null = null
  for (let sweep = 1; sweep <= sweeps; sweep += 1) {
    try {
      if (version >= 2) {
        const length = data.uint32()
        const time = decodeLatin1(data.bytes(version === 2 ? data.textLength() : length))
        takenAt ??= parseIsoTime(time)
      }
      readings.add(
        sweep,
        khz,
        khz.map(() => data.double()),
      )
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      readings.skip(sweep, 'The file ends within this sweep.')
      break
    }
  }
  return readings.toScan({ format: 'rf_explorer', unit: 'dBm', takenAt })
}

function parseIsoTime(text: string): number | null {
  const time = Date.parse(text.replace(/(\.\d{3})\d+/, '$1'))
  return Number.isNaN(time) ? null : time
}

/** Methods throw a `RangeError` at the end of the bytes. */
class BinaryReader {
  readonly #view: DataView
  readonly #bytes: Uint8Array
  #at: number

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#at = at
  }

  skip(length: number): void {
    if (this.#at + length > this.#bytes.length) throw new RangeError('end of file')
    this.#at += length
  }

  bytes(length: number): Uint8Array {
    const start = this.#at
    this.skip(length)
    return this.#bytes.subarray(start, this.#at)
  }

  uint16(): number {
    const start = this.#at
    this.skip(2)
    return this.#view.getUint16(start, true)
  }

  uint32(): number {
    const start = this.#at
    this.skip(4)
    return this.#view.getUint32(start, true)
  }

  double(): number {
    const start = this.#at
    this.skip(8)
    return this.#view.getFloat64(start, true)
  }

  /** The length of a text in bytes: seven bits per byte, lowest first. */
  textLength(): number {
    let length = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const [byte = 0] = this.bytes(1)
      length |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    return length
  }
}

/**
 * Commands and messages of RF Explorer, as the manufacturer's library (RFECommunicator.cs) has them. Text ends with CR
 * LF, but a level may contain any byte, so sweeps are read by their count.
 */

import { type MeasuredSweep, requireWithin, type Span, SpanError } from './span.ts'

export const rfExplorerBaudRate = 500_000

/** A command to the device: `#`, the length of all bytes, and the text. */
export function toRfExplorerCommand(text: string): Uint8Array {
  return Uint8Array.from(
    [0x23, text.length + 2, ...text].map((byte) => (typeof byte === 'number' ? byte : byte.charCodeAt(0))),
  )
}

export const rfExplorerCommands = { requestConfig: 'C0', hold: 'CH' } as const

export interface RfExplorerConfig {
  readonly startKhz: number
  readonly stepHz: number
  readonly points: number
  readonly isAnalyser: boolean
  readonly lowestKhz: number
  readonly highestKhz: number
  readonly maxSpanKhz: number
}

export type RfExplorerMessage =
  | { readonly type: 'config'; readonly config: RfExplorerConfig }
  | { readonly type: 'sweep'; readonly dbm: readonly number[] }

/** The part of a span that the device sweeps at once. */
export interface RfExplorerPiece {
  readonly startKhz: number
  readonly endKhz: number
}

/** Throws a `SpanError` about a span that the device cannot measure. */
export function planRfExplorer(span: Span, config: RfExplorerConfig): readonly RfExplorerPiece[] {
  requireWithin(span, config.lowestKhz / 1000, config.highestKhz / 1000, 'This RF Explorer')
  const [fromKhz, toKhz] = [Math.round(span.fromMhz * 1000), Math.round(span.toMhz * 1000)]
  const longestKhz = Math.min((config.points - 1) * span.stepKhz, config.maxSpanKhz)
  if (longestKhz < 1) throw new SpanError(`--step: expected at least 1 kHz, found ${span.stepKhz} kHz`)
  // Pieces of one length, because devices refuse short ones.
  const count = Math.ceil((toKhz - fromKhz) / longestKhz)
  const boundary = (index: number) => Math.round(fromKhz + (index * (toKhz - fromKhz)) / count)
  return Array.from({ length: count }, (_, index) => ({ startKhz: boundary(index), endKhz: boundary(index + 1) }))
}

/** The limits of the device's own display, in dBm. They do not change the levels. */
const displayedDbm = '-010,-120'

export function toTuneCommand({ startKhz, endKhz }: RfExplorerPiece): string {
  return `C2-F:${pad(startKhz)},${pad(endKhz)},${displayedDbm}`
}

const pad = (khz: number) => String(khz).padStart(7, '0')

/** True if the device is tuned to the piece, apart from its rounding. */
export function isTunedTo({ startKhz, stepHz, points }: RfExplorerConfig, piece: RfExplorerPiece): boolean {
  const endKhz = startKhz + (stepHz * (points - 1)) / 1000
  const toleranceKhz = (2 * stepHz) / 1000 + 1
  return Math.abs(startKhz - piece.startKhz) <= toleranceKhz && Math.abs(endKhz - piece.endKhz) <= toleranceKhz
}

/** The levels of one piece, at the frequencies of the device. */
export interface MeasuredPiece {
  readonly config: RfExplorerConfig
  readonly dbm: readonly number[]
}

/**
 * Each point of the span has the highest level within half a step. One between two frequencies of the device has the
 * higher of its neighbours.
 */
export function unitePieces(span: Span, points: number, pieces: readonly MeasuredPiece[]): MeasuredSweep['dbm'] {
  const levels: (number | null)[] = Array(points).fill(null)
  for (const { config, dbm } of pieces) {
    for (const [index, level] of dbm.entries()) {
      const khz = config.startKhz + (index * config.stepHz) / 1000
      const point = Math.round((khz - span.fromMhz * 1000) / span.stepKhz)
      if (point >= 0 && point < points) levels[point] = Math.max(levels[point] ?? level, level)
    }
  }
  return levels.map((level, point) => level ?? highestOf([levels[point - 1], levels[point + 1]]))
}

function highestOf(levels: readonly (number | null | undefined)[]): number | null {
  const measured = levels.filter((level) => level !== null && level !== undefined)
  return measured.length === 0 ? null : Math.max(...measured)
}

const dollar = 0x24
const hash = 0x23
/** The device cuts a sweep off with these bytes when it is tuned. */
const cutMark = [0xff, 0xfe, 0xff, 0xfe, 0x00] as const
const maxLineBytes = 160
const configPrefix = '#C2-F:'

/** Finds the messages among anything else that the device sends. */
export class RfExplorerReader {
  #bytes: Uint8Array = new Uint8Array()

  add(bytes: Uint8Array): readonly RfExplorerMessage[] {
    this.#bytes = Uint8Array.of(...this.#bytes, ...bytes)
    const messages: RfExplorerMessage[] = []
    let at = 0
    while (at < this.#bytes.length) {
      const found = this.#read(at)
      if (found === 'incomplete') break
      if (found.message !== null) messages.push(found.message)
      at += found.length
    }
    this.#bytes = this.#bytes.slice(at)
    return messages
  }

  #read(at: number): 'incomplete' | { readonly length: number; readonly message: RfExplorerMessage | null } {
    const first = this.#bytes[at]
    if (first === dollar) return this.#readSweep(at)
    if (first === hash) return this.#readLine(at)
    return other
  }

  #readSweep(at: number) {
    const kind = this.#bytes[at + 1]
    if (kind === undefined) return 'incomplete'
    const header = sweepHeaders[String.fromCharCode(kind)]
    if (header === undefined) return other
    const start = at + header.length
    if (this.#bytes.length < start) return 'incomplete'
    const count = header.count(this.#bytes[at + 2] ?? 0, this.#bytes[at + 3] ?? 0)
    const levels = this.#bytes.subarray(start, start + count)
    const cut = indexOfCut(levels)
    if (cut >= 0) return { length: header.length + cut + cutMark.length, message: null }
    const [cr, lf] = this.#bytes.subarray(start + count, start + count + 2)
    if (cr === undefined || lf === undefined) return 'incomplete'
    if (cr !== 0x0d || lf !== 0x0a) return other
    const dbm = Array.from(levels, (level) => (level === 0 ? 0 : -level / 2))
    return { length: header.length + count + 2, message: { type: 'sweep' as const, dbm } }
  }

  #readLine(at: number) {
    const text = String.fromCharCode(...this.#bytes.subarray(at, at + maxLineBytes))
    if (!text.startsWith(configPrefix.slice(0, text.length))) return other
    const end = text.indexOf('\r\n')
    if (end < 0) return text.length < maxLineBytes ? 'incomplete' : other
    const config = parseConfig(text.slice(configPrefix.length, end))
    return { length: end + 2, message: config && { type: 'config' as const, config } }
  }
}

const other = { length: 1, message: null } as const

const sweepHeaders: Readonly<
  Record<string, { readonly length: number; readonly count: (first: number, second: number) => number }>
> = {
  S: { length: 3, count: (first) => first },
  s: { length: 3, count: (first) => 16 * first },
  z: { length: 4, count: (first, second) => 256 * first + second },
}

function indexOfCut(levels: Uint8Array): number {
  for (let at = levels.indexOf(cutMark[0]); at >= 0; at = levels.indexOf(cutMark[0], at + 1)) {
    if (cutMark.every((byte, index) => levels[at + index] === byte)) return at
  }
  return -1
}

/** The fields after the limits of the display: points, expansion module, mode, lowest, highest and longest span in kHz. */
function parseConfig(text: string): RfExplorerConfig | null {
  const numbers = text.split(',').map(Number)
  const [startKhz, stepHz, , , points, , mode, lowestKhz, highestKhz, maxSpanKhz] = numbers
  const isComplete = [startKhz, stepHz, points, lowestKhz, highestKhz, maxSpanKhz].every((value) => Number(value) > 0)
  if (!isComplete || points === undefined || points < 2) return null
  return {
    ...{ startKhz: Number(startKhz), stepHz: Number(stepHz), points, isAnalyser: mode === 0 },
    ...{ lowestKhz: Number(lowestKhz), highestKhz: Number(highestKhz), maxSpanKhz: Number(maxSpanKhz) },
  }
}

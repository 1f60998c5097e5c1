/**
 * Commands and answers of tinySA and tinySA Ultra, as their firmware (erikkaashoek/tinySA, `main.c`) and QtTinySA have
 * them. A command ends with CR and is echoed; an answer ends with a prompt.
 */

import { AnalyserError, countPoints, requireWithin, type Span, SpanError } from './span.ts'

export const tinysaPrompt = 'ch> '

export interface TinysaModel {
  readonly name: string
  readonly isUltra: boolean
  /** Is subtracted from raw levels to get dBm, unless the device answers `zero` with another value. */
  readonly zeroDbm: number
}

/** Returns null if the text does not contain the answer to `version`. */
export function parseTinysaVersion(text: string): TinysaModel | null {
  const [, ultra] = /tinySA(4?)_v?\d/.exec(text) ?? []
  if (ultra === undefined) return null
  return ultra === ''
    ? { name: 'tinySA', isUltra: false, zeroDbm: 128 }
    : { name: 'tinySA Ultra', isUltra: true, zeroDbm: 174 }
}

/** Reads `128dBm` from the answer to `zero`. */
export function parseTinysaZero(text: string): number | null {
  const [, zero] = /(\d{2,3})\s*dBm/.exec(text) ?? []
  return zero === undefined ? null : Number(zero)
}

export interface TinysaPlan {
  /** Commands before the first sweep. */
  readonly setup: readonly string[]
  readonly sweep: string
  readonly points: number
}

/** The resolution bandwidths of both models, in kHz. */
const bandwidthsKhz = [3, 10, 30, 100, 300, 600] as const
const lowInput = { mode: 'mode low input', lowestMhz: 0.1, highestMhz: 350 } as const
const highInput = { mode: 'mode high input', lowestMhz: 240, highestMhz: 960 } as const
const highestUltraMhz = 6000

/** Throws a `SpanError` about a span that the model cannot measure. */
export function planTinysa(span: Span, { name, isUltra }: TinysaModel): TinysaPlan {
  const points = countPoints(span)
  requireWithin(span, lowInput.lowestMhz, isUltra ? highestUltraMhz : highInput.highestMhz, name)
  const bandwidthKhz = bandwidthsKhz.find((khz) => khz >= span.stepKhz)
  if (bandwidthKhz === undefined) {
    throw new SpanError(`--step: ${name} has bandwidths up to ${bandwidthsKhz.at(-1)} kHz, so larger steps leave gaps`)
  }
  const fromHz = Math.round(span.fromMhz * 1e6)
  // The firmware divides the span by the number of points, so that the last point lies one step before its end.
  const toHz = fromHz + Math.round(points * span.stepKhz * 1000)
  const mode = isUltra ? [] : [inputOf(span, name)]
  return { setup: [...mode, `rbw ${bandwidthKhz}`], sweep: `scanraw ${fromHz} ${toHz} ${points}`, points }
}

function inputOf({ fromMhz, toMhz }: Span, name: string): string {
  if (toMhz <= lowInput.highestMhz) return lowInput.mode
  if (fromMhz >= highInput.lowestMhz) return highInput.mode
  throw new SpanError(
    `${name} measures up to ${lowInput.highestMhz} MHz or from ${highInput.lowestMhz} MHz, not both in one sweep`,
  )
}

const openBrace = 0x7b
const closeBrace = 0x7d
const pointMark = 0x78
/** The echo and an error message are shorter. */
const maxHeadBytes = 1024

/** Reads the answer to `scanraw` by its structure, because a level may contain any byte. */
export class ScanrawReader {
  readonly levels: number[] = []
  #rest: Uint8Array = new Uint8Array()
  #hasBegun = false
  #hasEnded = false

  /** True after the closing brace. A touch on the screen ends a sweep early. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Throws an `AnalyserError` about bytes that do not belong to a sweep. */
  add(bytes: Uint8Array): void {
    const rest = Uint8Array.of(...this.#rest, ...bytes)
    const start = this.#hasBegun ? 0 : this.#findBeginning(rest)
    this.#rest = start === null ? rest : rest.subarray(this.#readPoints(rest, start))
  }

  /** Returns the position of the first point; null if it has not arrived. The prompt before the echo may come late. */
  #findBeginning(bytes: Uint8Array): number | null {
    const text = String.fromCharCode(...bytes.subarray(0, maxHeadBytes))
    const echo = text.indexOf('scanraw')
    const brace = echo < 0 ? -1 : bytes.indexOf(openBrace, echo)
    if (brace >= 0) {
      this.#hasBegun = true
      return brace + 1
    }
    if ((echo >= 0 && text.endsWith(tinysaPrompt)) || bytes.length >= maxHeadBytes) {
      const [, refusal = ''] = /scanraw[^\r\n]*[\r\n]+([^\r\n]*)/.exec(text) ?? []
      throw new AnalyserError(`tinySA refuses to sweep: ${refusal.trim() || 'no answer'}`)
    }
    return null
  }

  #readPoints(bytes: Uint8Array, start: number): number {
    let at = start
    while (!this.#hasEnded && at < bytes.length) {
      const mark = bytes[at]
      if (mark === closeBrace) {
        this.#hasEnded = true
        return bytes.length
      }
      if (mark !== pointMark) throw new AnalyserError('tinySA sends bytes that do not belong to a sweep')
      const [low, high] = bytes.subarray(at + 1, at + 3)
      if (low === undefined || high === undefined) break
      this.levels.push(low + 256 * high)
      at += 3
    }
    return at
  }
}

export function tinysaToDbm(level: number, zeroDbm: number): number {
  return Math.round((level / 32 - zeroDbm) * 10) / 10
}

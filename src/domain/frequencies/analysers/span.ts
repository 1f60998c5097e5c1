/** The span that an analyser measures, its sweeps, and its errors. */

import { maxSweepPoints } from '../sweeps/sweep.ts'

export interface Span {
  readonly fromMhz: number
  readonly toMhz: number
  readonly stepKhz: number
}

/** The levels of one sweep, in equal steps. */
export interface MeasuredSweep {
  /** Epoch milliseconds. */
  readonly startedAt: number
  readonly fromMhz: number
  readonly stepMhz: number
  readonly dbm: readonly (number | null)[]
}

/** The message names the analyser, and what to do. */
export class AnalyserError extends Error {
  override readonly name: string = 'AnalyserError'
}

/** A span that the analyser cannot measure. */
export class SpanError extends AnalyserError {
  override readonly name = 'SpanError'
}

/** Throws a `SpanError` if there are too many or too few points. */
export function countPoints({ fromMhz, toMhz, stepKhz }: Span): number {
  if (toMhz <= fromMhz) throw new SpanError(`--to: expected more than ${fromMhz} MHz, found ${toMhz} MHz`)
  // A span of whole steps is not exact in binary.
  const points = Math.floor(((toMhz - fromMhz) * 1000) / stepKhz + 1e-6) + 1
  if (points < 2) throw new SpanError(`--step: expected less than the span, ${toMhz - fromMhz} MHz`)
  if (points <= maxSweepPoints) return points
  throw new SpanError(`--step: ${stepKhz} kHz makes ${points} points; at most ${maxSweepPoints} are accepted`)
}

/** Throws a `SpanError` if the span is outside the range of the analyser. */
export function requireWithin({ fromMhz, toMhz }: Span, lowestMhz: number, highestMhz: number, name: string): void {
  if (fromMhz >= lowestMhz && toMhz <= highestMhz) return
  throw new SpanError(`${name} measures ${lowestMhz} to ${highestMhz} MHz, not ${fromMhz} to ${toMhz} MHz`)
}

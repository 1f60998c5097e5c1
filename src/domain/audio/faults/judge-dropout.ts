/**
 * Decides whether sound that broke off was a dropout. Pauses, gates and mutes break off too, so the sound alone
 * proves nothing. The RF level must have been weak, or the sound must return within 2 s. Reports of mutes arrive late;
 * therefore, nothing is decided before they could have arrived.
 */

import type { AudioFinding } from './finding.ts'

/** Unix ms; `until` is null while it lasts. */
export interface TimeRange {
  readonly from: number
  readonly until: number | null
}

export interface DropoutEvidence {
  readonly now: number
  /** Ranges of weak RF or bad quality. Null without RF readings. */
  readonly weakRf: readonly TimeRange[] | null
  /** Mutes of the transmitter or the receiver. */
  readonly mutes: readonly TimeRange[]
}

export type DropoutVerdict =
  | { readonly is: 'undecided' | 'muted' | 'silence' }
  | { readonly is: 'dropout'; readonly confirmedBy: 'rf' | 'return' }

export const muteMs = 1000
/** RF levels are reported at the end of their metering interval. */
const rfMs = 500
const returnMs = 2000

export function judgeDropout(
  { from, until }: Pick<AudioFinding, 'from' | 'until'>,
  { now, weakRf, mutes }: DropoutEvidence,
): DropoutVerdict {
  const range = { from, until: until ?? now }
  if (mutes.some((mute) => overlaps(mute, range, muteMs))) return { is: 'muted' }
  if (now < Math.min(range.until, from + returnMs) + muteMs) return { is: 'undecided' }
  if (weakRf?.some((weak) => overlaps(weak, range, rfMs))) return { is: 'dropout', confirmedBy: 'rf' }
  return until !== null && until - from <= returnMs ? { is: 'dropout', confirmedBy: 'return' } : { is: 'silence' }
}

/** True if the ranges are at most `marginMs` apart. */
export function overlaps(
  each: TimeRange,
  range: { readonly from: number; readonly until: number },
  marginMs: number,
): boolean {
  return each.from <= range.until + marginMs && (each.until ?? Number.POSITIVE_INFINITY) >= range.from - marginMs
}

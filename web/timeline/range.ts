/** Times are the service's, in epoch ms. */

import { toIso } from '../app/service-time.ts'
import { type View as LiveView, parseView } from '../app/view.ts'

export interface TimeRange {
  readonly from: number
  /** ms */
  readonly span: number
}

export const minSpan = 10_000
const week = 604_800_000
export const presets = [minSpan, 60_000, 600_000, 3_600_000, 21_600_000, 86_400_000, week] as const
export const defaultSpan = 600_000

/** Maximum lead of a range beyond the present, as a share of its span. */
const leadShare = 0.5
/** Position of the present in a followed range, as a share of the span. */
const followShare = 0.96

export function clampSpan(span: number): number {
  return Math.min(week, Math.max(minSpan, span))
}

/** The time at `anchor`, a share of the span, stays in its place. */
export function zoom({ from, span }: TimeRange, factor: number, anchor: number): TimeRange {
  const next = clampSpan(span * factor)
  return { from: from + (span - next) * anchor, span: next }
}

export function pan({ from, span }: TimeRange, ms: number): TimeRange {
  return { from: from + ms, span }
}

/** Moves back a range that lies too far in the future. */
export function notAfter({ from, span }: TimeRange, now: number): TimeRange {
  return { from: Math.min(from, now + span * (leadShare - 1)), span }
}

export function following(span: number, now: number): TimeRange {
  return { from: now - span * followShare, span }
}

export function centredOn(at: number, span: number): TimeRange {
  return { from: at - span / 2, span }
}

export function containing(range: TimeRange, at: number): TimeRange {
  return at >= range.from && at <= range.from + range.span ? range : centredOn(at, range.span)
}

/** Without `from` and `to`, the range follows the present. */
export interface TimelineAddress extends Pick<Partial<LiveView>, 'group' | 'q' | 'state' | 'manufacturer'> {
  /** ISO 8601 */
  readonly from?: string
  readonly to?: string
  /** Seconds, while the range follows the present. */
  readonly span?: string
  readonly at?: string
  readonly channel?: string
  /** Ids of the channels whose strips are open. */
  readonly open?: string
}

export function parseTimeline(query: Readonly<Record<string, unknown>>): TimelineAddress {
  const { group, q, state, manufacturer } = parseView(query)
  const read = (key: string) => String(query[key] ?? '')
  const [from, to] = [Date.parse(read('from')), Date.parse(read('to'))]
  const isRange = to - from >= 1_000
  const at = Date.parse(read('at'))
  const [channel, open] = [listIds(read('channel')).join(), listIds(read('open')).join()]
  return {
    ...(isRange && { from: toIso(from), to: toIso(to) }),
    ...(!isRange && /^[1-9]\d{0,6}$/.test(read('span')) && { span: read('span') }),
    ...(!Number.isNaN(at) && { at: toIso(at) }),
    ...(channel !== '' && { channel }),
    ...(open !== '' && { open }),
    ...(group !== undefined && { group }),
    ...(q !== undefined && { q }),
    ...(manufacturer !== undefined && { manufacturer }),
    ...(state === 'problems' && { state }),
  }
}

/** Null: follow the present. */
export function rangeOf({ from, to }: TimelineAddress): TimeRange | null {
  if (from === undefined || to === undefined) return null
  const [start, end] = [Date.parse(from), Date.parse(to)]
  const span = clampSpan(end - start)
  // A range that is too short or too long keeps its centre.
  return { from: (start + end - span) / 2, span }
}

export function listIds(text: string): readonly number[] {
  const ids = text.split(',').filter((part) => /^[1-9]\d{0,14}$/.test(part))
  return [...new Set(ids.map(Number))]
}

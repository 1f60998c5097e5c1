import { toIso } from '../../app/service-time.ts'

export interface ChannelRange {
  /** Seconds */
  readonly span: number
  /** End in epoch seconds; null for now, which the charts follow. */
  readonly to: number | null
}

const hour = 3_600
const day = 24 * hour

export const spans = [600, hour, 6 * hour, day, 7 * day, 14 * day] as const

const defaultSpan = hour

/** `span` is in seconds, `to` an ISO 8601 timestamp. */
export function parseRange(query: Readonly<Record<string, unknown>>): ChannelRange {
  const to = Date.parse(String(query.to ?? '')) / 1_000
  const span = Number(query.span)
  return {
    span: (spans as readonly number[]).includes(span) ? span : defaultSpan,
    to: Number.isNaN(to) ? null : Math.floor(to),
  }
}

export function rangeQuery({ span, to }: ChannelRange): { readonly span?: number; readonly to?: string } {
  return {
    ...(span !== defaultSpan && { span }),
    ...(to !== null && { to: toIso(to * 1_000) }),
  }
}

/** Ten minutes around a time in epoch milliseconds. */
export function rangeAround(at: number): ReturnType<typeof rangeQuery> {
  const span = spans[0]
  return rangeQuery({ span, to: Math.floor(at / 1_000) + span / 2 })
}

/** A range that reaches `now` follows it. */
export function pan(range: ChannelRange, seconds: number, now: number): ChannelRange {
  const to = Math.round((range.to ?? now) + seconds)
  return { ...range, to: to >= now ? null : to }
}

/** The middle stays in place, unless the range follows the present. */
export function zoom({ span, to }: ChannelRange, next: number, now: number): ChannelRange {
  if (to === null) return { span: next, to }
  return pan({ span: next, to }, (next - span) / 2, now)
}

/** The next shorter (-1) or longer (1) length. */
export function neighbourSpan(span: number, step: -1 | 1): number {
  return spans[(spans as readonly number[]).indexOf(span) + step] ?? span
}

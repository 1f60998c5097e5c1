import type { EventBody } from '../../contract/history.ts'
import type { SiteReference } from '../../contract/schema.ts'
import type { EventKind, Severity } from '../../contract/values.ts'
import { toTimestamp } from '../timestamp.ts'
import { describeEvent, type EventData } from './describe-event.ts'

/** An event that is not stored yet. Times are epoch milliseconds. */
export interface EventDraft {
  readonly time: number
  /** Null for a moment, and for an open range. */
  readonly until: number | null
  /** True for a range that continues. */
  readonly is_open: boolean
  readonly kind: EventKind
  readonly severity: Severity
  readonly channel_id: number | null
  readonly receiver_id: number | null
  readonly manufacturer: string | null
  readonly text: string
  readonly data: EventData
  /** The name of the user or token, or `local`; null for the service itself. */
  readonly by: string | null
  /**
   * Identifies events that several processes may detect, or one process may detect twice after a restart. A range is
   * not stored if it overlaps the last one of its subject. Another event is not stored if the last one of its subject
   * has the same kind.
   */
  readonly subject: string | null
  /** The site that has recorded it; null for an event of this installation. */
  readonly site: SiteReference | null
  /** If present, the event is stored only if the last one of its subject has this kind. */
  readonly follows?: EventKind
}

export interface EventRecord extends Omit<EventDraft, 'follows'> {
  readonly id: number
}

/** Announced after a change of the log. */
export type EventChange =
  | { readonly type: 'event' | 'event_changed'; readonly event: EventRecord }
  | { readonly type: 'event_deleted'; readonly id: number }

/** Null fields do not apply. */
export type EventSubject = Pick<EventDraft, 'channel_id' | 'receiver_id' | 'manufacturer'>

export const aboutAll: EventSubject = { channel_id: null, receiver_id: null, manufacturer: null }

/** True for kinds with a duration. Each subject has at most one open range. */
export function isRange(kind: EventKind): boolean {
  return kind === 'rf_dropout' || kind === 'interference' || kind === 'clipping'
}

const severities: Partial<Record<EventKind, Severity>> = {
  rf_dropout: 'warning',
  interference: 'warning',
  battery_low: 'warning',
  battery_critical: 'critical',
  receiver_offline: 'warning',
  source_failing: 'warning',
  recording_gap: 'warning',
}

/** Creates an event of a moment, unless `fields` override this. */
export function draftEvent(
  kind: EventKind,
  { manufacturer, channel_id, receiver_id }: EventSubject,
  fields: Pick<EventDraft, 'time'> & Partial<EventDraft>,
): EventDraft {
  const data = fields.data ?? {}
  return {
    until: null,
    is_open: false,
    kind,
    severity: severities[kind] ?? 'info',
    channel_id,
    receiver_id,
    manufacturer,
    text: describeEvent(kind, manufacturer, data),
    by: null,
    subject: null,
    site: null,
    ...fields,
    data,
  }
}

/** Ends an open range. `until` is limited to times after its begin, because the clock may have been set back. */
export function endEvent<Event extends EventDraft | EventRecord>(event: Event, at: number, changed: EventData = {}) {
  const until = Math.max(at, event.time)
  const data = { ...event.data, seconds: toSeconds(until - event.time), ...changed }
  return { ...event, until, is_open: false, data, text: describeEvent(event.kind, event.manufacturer, data) }
}

/** With one decimal place. */
export function toSeconds(ms: number): number {
  return Math.round(ms / 100) / 10
}

export function toEventBody(event: EventRecord): EventBody {
  const { id, time, until, kind, severity, channel_id, receiver_id, manufacturer, text, by, site } = event
  return {
    id,
    time: toTimestamp(time),
    until: until === null ? null : toTimestamp(until),
    kind,
    severity,
    channel_id,
    receiver_id,
    manufacturer,
    text,
    data: event.is_open ? { ...event.data, open: true } : { ...event.data },
    by,
    site,
  }
}

import type { EventBody } from '../../contract/history.ts'
import type { SiteReference } from '../../contract/schema.ts'
import type { CheckResult, EventKind, GapReason, Severity, SwapKind } from '../../contract/values.ts'
import type { AlertData } from '../alerts/alert.ts'
import { nameSubject } from '../alerts/describe-alert.ts'
import { toCell, toLine } from '../csv.ts'
import { toTimestamp } from '../timestamp.ts'

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
  /** Only markers of this installation have one. */
  readonly version?: number
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

const ranges: readonly EventKind[] = ['rf_dropout', 'interference', 'clipping', 'audio_dropout', 'audio_clipping']

/** True for kinds with a duration. Each subject has at most one open range. */
export function isRange(kind: EventKind): boolean {
  return ranges.includes(kind)
}

const severities: Partial<Record<EventKind, Severity>> = {
  rf_dropout: 'warning',
  interference: 'warning',
  audio_dropout: 'warning',
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
  const { id, time, until, kind, severity, channel_id, receiver_id, manufacturer, text, by, site, version } = event
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
    ...(version !== undefined && { version }),
  }
}

/** The values of an event, from which texts are generated. The kind determines which are present. */
export interface EventData extends Partial<AlertData> {
  readonly seconds?: number
  readonly lowest_dbm?: number
  readonly from?: string | number | null
  readonly to?: string | number | null
  readonly performer?: { readonly id: number; readonly name: string }
  readonly wireless_unit?: number
  readonly alert_id?: number
  /** The kind of an alert. */
  readonly kind?: string
  readonly with?: number
  readonly what?: SwapKind
  readonly show_id?: number
  readonly reason?: GapReason
  readonly result?: CheckResult
  readonly note?: string | null
}

/** Alerts and markers have texts of their own. */
function describeEvent(kind: EventKind, manufacturer: string | null, data: EventData): string {
  const name = nameSubject(data) ?? 'Unknown'
  const change = `from ${data.from ?? 'none'} to ${data.to ?? 'none'}`
  switch (kind) {
    case 'transmitter_on':
      return `${name}: transmitter on`
    case 'transmitter_off':
      return `${name}: transmitter off`
    case 'rf_dropout':
      return `${name}: RF dropout${duration(data)}${data.lowest_dbm === undefined ? '' : `, lowest level ${data.lowest_dbm} dBm`}`
    case 'interference':
      return `${name}: RF interference${duration(data)}`
    case 'clipping':
      return `${name}: clipping${duration(data)}`
    case 'audio_dropout':
      return `${name}: audio dropout${duration(data)}${data.confirmed_by === 'rf' ? ', with weak RF' : ''}`
    case 'audio_clipping':
      return `${name}: audio clipping${duration(data)}`
    case 'muted':
      return `${name}: muted`
    case 'unmuted':
      return `${name}: unmuted`
    case 'battery_low':
      return `${name}: battery low${batteryText(data)}`
    case 'battery_critical':
      return `${name}: battery critical${batteryText(data)}`
    case 'battery_changed':
      return `${name}: battery changed from ${data.from}% to ${data.to}%`
    case 'frequency_changed':
      return `${name}: frequency changed ${change} MHz`
    case 'renamed':
      return `${data.slot == null ? '' : `${name}: `}${data.from ?? 'Unknown'} was renamed to ${data.to ?? 'none'}`
    case 'moved':
      return `${name} moved ${change}`
    case 'swapped':
      return `Slots ${data.slot} and ${data.with}: ${data.what} swapped`
    case 'assigned':
      return describeAssignment(data, 'assigned to')
    case 'unassigned':
      return describeAssignment(data, 'no longer assigned to')
    case 'receiver_offline':
      return `${name} is offline`
    case 'receiver_online':
      return `${name} is online`
    case 'source_failing':
      return `${manufacturer} failed (${data.address})${data.error == null ? '' : `: ${data.error}`}`
    case 'source_recovered':
      return `${manufacturer} works again (${data.address})`
    case 'show_started':
      return `${data.title ?? 'Show'} started`
    case 'show_ended':
      return `${data.title ?? 'Show'} ended`
    case 'check':
      return `${name}: line check ${data.result === 'fail' ? 'failed' : 'passed'}${data.note ? ` (${data.note})` : ''}`
    case 'recording_gap':
      return gapText(data)
    case 'alert_raised':
    case 'alert_acknowledged':
    case 'alert_cleared':
    case 'marker':
      return ''
    default:
      return kind satisfies never
  }
}

/** A pack may be in no slot. */
function describeAssignment(data: EventData, verb: string): string {
  const { slot, name, performer } = data
  const who = slot == null ? performer?.name : nameSubject(data)
  return `${who ?? 'Unknown'}: ${verb} ${name ?? 'a pack'}`
}

function duration({ seconds }: EventData): string {
  return seconds === undefined ? '' : ` of ${seconds.toFixed(1)} s`
}

function batteryText({ battery, minutes_left }: EventData): string {
  if (battery != null) return ` (${battery}%)`
  return minutes_left == null ? '' : ` (${minutes_left} min)`
}

function gapText({ reason }: EventData): string {
  switch (reason) {
    case 'storage':
      return 'Levels were not recorded, because they could not be stored'
    case 'off':
      return 'Levels were not recorded, because the recording was off'
    default:
      return 'Levels were not recorded, because no process was recording'
  }
}

const columns = [
  'id',
  'time',
  'until',
  'kind',
  'severity',
  'channel_id',
  'receiver_id',
  'manufacturer',
  'text',
  'data',
  'by',
  'site',
] as const

export const eventCsvHeading = toLine(columns)

export function toEventLine(event: EventRecord): string {
  const body = toEventBody(event)
  const cells = { ...body, data: JSON.stringify(body.data), site: body.site?.code ?? null }
  return toLine(columns.map((column) => toCell(cells[column])))
}

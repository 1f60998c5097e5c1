import type { AlertData } from '../../contract/alert-data.ts'
import type { AlertKind } from '../../contract/alert-kinds.ts'
import type { AlertBody } from '../../contract/alerts.ts'
import type { AlertMessage } from '../../contract/messages.ts'
import type { SiteReference } from '../../contract/schema.ts'
import type { AlertState, Severity } from '../../contract/values.ts'
import { isSameJson } from '../json.ts'
import { toTimestamp } from '../timestamp.ts'

export type { AlertData } from '../../contract/alert-data.ts'
export type { AlertKind } from '../../contract/alert-kinds.ts'
export type { AlertState } from '../../contract/values.ts'

/** The kinds that one alert about a battery can have in turn, the worst first. */
export const batteryKinds = ['battery_died', 'battery_critical', 'battery_low'] as const

export const noData: AlertData = {
  name: null,
  slot: null,
  battery: null,
  minutes_left: null,
  threshold: null,
  receiver: null,
}

/** A condition for which an alert is raised. A subject has at most one open alert. */
export interface AlertCause {
  readonly subject: string
  readonly kind: AlertKind
  readonly severity: Severity
  readonly message: string
  /** Null for the service itself. */
  readonly manufacturer: string | null
  readonly receiver_id: number | null
  readonly channel_id: number | null
  readonly data: AlertData
}

export interface AlertFirst extends Pick<AlertCause, 'kind' | 'severity' | 'message' | 'data'> {
  /** Epoch milliseconds. */
  readonly at: number
}

/** A time (epoch ms), the end of the alert, or the end of the last show that has its subject. */
export type SnoozeEnd = number | 'cleared' | 'show_end'

export interface Acknowledgement {
  /** Epoch milliseconds. */
  readonly at: number
  readonly by: string
  readonly note: string | null
  readonly severity: Severity
}

/** Times are epoch milliseconds. */
export interface AlertResponse {
  readonly acknowledged_by: string | null
  readonly acknowledged_at: number | null
  readonly note: string | null
  readonly snoozed_by: string | null
  readonly snoozed_at: number | null
  readonly snoozed_until: SnoozeEnd | null
}

export const noResponse = {
  acknowledged_by: null,
  acknowledged_at: null,
  note: null,
  snoozed_by: null,
  snoozed_at: null,
  snoozed_until: null,
} as const satisfies AlertResponse

export interface Alert extends AlertCause, AlertResponse {
  readonly id: number
  readonly state: AlertState
  readonly raised_at: number
  readonly cleared_at: number | null
  readonly first: AlertFirst
  /** Oldest first, including those that were undone. */
  readonly acknowledgements: readonly Acknowledgement[]
  /** The site that raised it; null for an alert of this installation. */
  readonly site: SiteReference | null
}

/** An alert of a followed site. It has a separate id here. */
export interface AlertCopy extends Omit<Alert, 'id' | 'state'> {
  readonly site: SiteReference
}

export type AlertChange =
  | { readonly type: 'raise'; readonly cause: AlertCause }
  /** If it got worse, its acknowledgement or snooze ends. */
  | { readonly type: 'update'; readonly alert: Alert; readonly cause: AlertCause; readonly isWorse: boolean }
  | { readonly type: 'end_snooze'; readonly alert: Alert }
  | { readonly type: 'copy'; readonly copy: AlertCopy }
  | { readonly type: 'clear'; readonly alert: Alert; readonly message: string }

/** An acknowledgement is stronger than a snooze. */
export function alertState({
  cleared_at,
  acknowledged_at,
  snoozed_until,
}: Pick<Alert, 'cleared_at' | 'acknowledged_at' | 'snoozed_until'>): AlertState {
  if (cleared_at !== null) return 'cleared'
  if (acknowledged_at !== null) return 'acknowledged'
  return snoozed_until === null ? 'raised' : 'snoozed'
}

export function toFirst({ kind, severity, message, data }: Omit<AlertFirst, 'at'>, at: number): AlertFirst {
  return { at, kind, severity, message, data }
}

/** True if only the values and the message differ. */
export function hasOnlyOtherValues(before: Alert, after: Alert): boolean {
  const { message: _, data: __, ...known } = before
  const { message: ___, data: ____, ...others } = after
  return isSameJson(known, others)
}

/** True if a user marked the mute as on purpose. The mark lasts until the channel is unmuted. */
export function isMutedOnPurpose({
  kind,
  snoozed_until,
}: Pick<AlertBody, 'kind'> & { readonly snoozed_until: SnoozeEnd | string | null }): boolean {
  return kind === 'muted' && snoozed_until === 'cleared'
}

/** For a death or a loss, the time of the last value. */
export function happenedAt({ raised_at, data }: Pick<AlertBody, 'raised_at' | 'data'>): string {
  return data.died_at ?? data.lost_at ?? raised_at
}

export function toAlertMessage(alert: Alert): AlertMessage {
  const { id, kind, state, severity, message, manufacturer, channel_id } = alert
  return { type: 'alert', manufacturer, id, kind, state, severity, message, channel_id }
}

/** Computed whenever an alert is sent; not stored. */
export interface AlertMarks {
  readonly isSilenced: boolean
  /** Undefined unless the title of the channel has changed since the alert was raised. */
  readonly titleNow?: string | undefined
}

export function toAlertBody(
  alert: Alert,
  { now, isSilenced, titleNow }: AlertMarks & { readonly now: number },
): AlertBody {
  const { type: _, ...message } = toAlertMessage(alert)
  const { receiver_id, raised_at, cleared_at, acknowledged_by, acknowledged_at, note, snoozed_by, snoozed_at } = alert
  // A time in the future was recorded before the clock was set back.
  const toTime = (time: number | null) => (time === null ? null : toTimestamp(Math.min(time, now)))
  const { snoozed_until: until } = alert
  return {
    ...message,
    receiver_id,
    raised_at: toTimestamp(Math.min(raised_at, now)),
    cleared_at: toTime(cleared_at),
    acknowledged_by,
    acknowledged_at: toTime(acknowledged_at),
    note,
    acknowledgements: alert.acknowledgements.map(({ at, ...entry }) => ({
      at: toTimestamp(Math.min(at, now)),
      ...entry,
    })),
    snoozed_by,
    snoozed_at: toTime(snoozed_at),
    snoozed_until: typeof until === 'number' ? toTimestamp(until) : until,
    silenced: isSilenced,
    site: alert.site,
    ...(titleNow !== undefined && { title_now: titleNow }),
    data: alert.data,
    first: { ...alert.first, at: toTimestamp(Math.min(alert.first.at, now)) },
  }
}

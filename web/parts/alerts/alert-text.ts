import { type AlertKind, alertKindTable, isAlertKind } from '../../../src/contract/alert-kinds.ts'
import type { AlertBody } from '../../../src/contract/alerts.ts'
import { isMutedOnPurpose } from '../../../src/domain/alerts/alert.ts'
import { nameSubject } from '../../../src/domain/alerts/describe-alert.ts'
import {
  formatClock,
  formatDbm,
  formatMegahertz,
  formatMoment,
  formatPercent,
  formatShortDuration,
  plainText,
  toSentence,
} from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { slotTitle } from '../../app/slot-records.ts'
import { faultText } from '../equipment/equipment-details.ts'

type Described = Pick<AlertBody, 'kind' | 'message' | 'manufacturer' | 'data'>

/** For example `Battery low`. An unknown kind shows its message. */
export function alertTitle({ kind, message }: Pick<Described, 'kind' | 'message'>): string {
  return alertKindTitle(kind, message)
}

export function alertKindTitle(kind: string, unknown = kind): string {
  return isAlertKind(kind) ? t(`alerts.kinds.${kind}`) : unknown
}

/** The slot and title of the channel, or the pack, receiver or source that the alert concerns. */
export function alertSubject({ kind, manufacturer, data }: Described, slot = data.slot): string | null {
  const isSource = isAlertKind(kind) && alertKindTable[kind].subject === 'source'
  const name = isSource ? (data.address ?? manufacturer) : (nameSubject({ ...data, slot }) ?? manufacturer)
  return name === null ? null : plainText(name)
}

export function alertLine(alert: Described): string {
  const name = alertSubject(alert)
  const title = alertTitle(alert)
  return name === null || !isAlertKind(alert.kind) ? title : t('alerts.line', { name, title })
}

/** The slots and titles of a receiver's channels; null if the alert has none. */
export function alertPeople({ data: { people } }: Pick<Described, 'data'>): string | null {
  if (people === undefined) return null
  return people.map(({ slot, title }) => slotTitle({ slot, title: plainText(title ?? '') })).join(', ')
}

/** Null for an unknown kind. */
export function alertReason({ kind, data }: Pick<Described, 'kind' | 'data'>): string | null {
  if (!isAlertKind(kind)) return null
  const { limit, error: place } = alertKindTable[kind]
  const reason = (limit === 'crossed' ? batteryReason(data) : detailedReason(kind, data)) ?? t(`alerts.reasons.${kind}`)
  if (kind === 'charger_fault' || kind === 'equipment_fault') return faultText(data) ?? reason
  if (!data.error || place === undefined) return reason
  const error = plainText(data.error)
  return place === 'before' ? `${toSentence(error)} ${reason}` : `${reason} ${error}`
}

/** Returns the reason with the alert's values; null if a value is missing. */
function detailedReason(kind: AlertKind, data: AlertBody['data']): string | null {
  const { limit, detailedReason: text } = alertKindTable[kind]
  if (text === undefined) return null
  const { receiver, battery, minutes_left, threshold, ends_at, failures, tuned, planned, plan } = data
  const { carrier_mhz, near_mhz, sweep_seconds } = data
  const format = <T>(value: T | null | undefined, toText: (value: T) => string) =>
    value === null || value === undefined ? undefined : toText(value)
  const values: Readonly<Record<string, string | number | undefined>> = {
    receiver: format(receiver, plainText),
    battery: format(battery, formatPercent),
    minutes_left: format(minutes_left, formatMinutes),
    threshold: format(threshold, limit === 'dBm' ? formatDbm : formatMinutes),
    ends_at: format(ends_at, (end) => formatClock(Date.parse(end))),
    tuned: format(tuned, formatMegahertz),
    planned: format(planned, formatMegahertz),
    plan: format(plan, plainText),
    carrier: format(carrier_mhz, formatMegahertz),
    frequency: format(near_mhz, formatMegahertz),
    sweep: format(sweep_seconds, (seconds) => formatShortDuration(Math.max(1, seconds) * 1000)),
    count: failures,
  }
  const names = [...(typeof text === 'string' ? text : text.other).matchAll(/\{\{(\w+)\}\}/g)].map(
    ([, name = '']) => name,
  )
  return names.every((name) => values[name] !== undefined) ? t(`alerts.detailedReasons.${kind}`, values) : null
}

/** Names the user and the end. A mute on purpose ends when the channel is unmuted. */
export function snoozeText(alert: Pick<AlertBody, 'kind' | 'snoozed_by' | 'snoozed_until'>, until: string): string {
  const name = personName(alert.snoozed_by ?? '')
  return isMutedOnPurpose(alert) ? t('mute.by', { name }) : t('alerts.snoozedBy', { name, until: snoozeEndText(until) })
}

function snoozeEndText(until: string): string {
  if (until === 'cleared') return t('alerts.snoozedUntilCleared')
  return until === 'show_end' ? t('alerts.snoozedUntilShowEnd') : formatMoment(until)
}

/** Responses on a local listener are recorded as `local`. */
export function personName(name: string): string {
  return name === 'local' ? t('alerts.localUser') : plainText(name)
}

export function shortPersonName(name: string): string {
  return name === 'local' ? t('alerts.localUserShort') : plainText(name)
}

/** The value that crossed its limit comes first. */
function batteryReason(data: AlertBody['data']): string | null {
  const { battery, minutes_left: minutes, crossed } = data
  const level = battery === null ? null : formatPercent(battery)
  const time = minutes === null ? null : t('channel.timeLeft', { time: formatMinutes(minutes) })
  const values = [
    crossed === 'warning' ? t('alerts.reasons.batteryWarning') : null,
    ...(crossed === 'minutes_left' ? [time, level] : [level, time]),
    batteryLimit(data),
  ].filter((value) => value !== null)
  return values.length === 0 ? null : values.join(' · ')
}

/** Alerts without `crossed` are older; their limits are percentages. */
function batteryLimit({ battery, threshold, crossed }: AlertBody['data']): string | null {
  if (threshold === null || (crossed === undefined && battery === null)) return null
  const limit = crossed === 'minutes_left' ? formatMinutes(threshold) : formatPercent(threshold)
  return t('alerts.reasons.limit', { limit })
}

function formatMinutes(minutes: number): string {
  return formatShortDuration(minutes * 60_000)
}

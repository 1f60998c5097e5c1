/** Words alerts in the viewer's language, from their kind and data. */

import { type AlertKind, alertKindDefaults } from '../../src/contract/alert-kinds.ts'
import type { AlertBody } from '../../src/contract/resources/alerts.ts'
import {
  formatClock,
  formatDbm,
  formatMoment,
  formatPercent,
  formatShortDuration,
  plainText,
  toSentence,
} from '../app/format.ts'
import { t } from '../app/i18n.ts'

type Described = Pick<AlertBody, 'kind' | 'message' | 'manufacturer' | 'data'>

/** Returns what is wrong in a few words, such as `Battery low`. A kind that this page does not know has its message. */
export function alertTitle({ kind, message }: Pick<Described, 'kind' | 'message'>): string {
  return isAlertKind(kind) ? t(`alerts.kinds.${kind}`) : message
}

/** Returns the name of the performer's pack, channel, receiver or source that the alert concerns. */
export function alertSubject({ kind, manufacturer, data }: Described): string | null {
  const isSource = isAlertKind(kind) && alertKindDefaults[kind].subject === 'source'
  const name = isSource ? (data.address ?? manufacturer) : (data.name ?? data.receiver ?? manufacturer)
  return name === null ? null : plainText(name)
}

/** Returns `Nora: battery low` for messages and notifications. */
export function alertLine(alert: Described): string {
  const name = alertSubject(alert)
  const title = alertTitle(alert)
  return name === null || !isAlertKind(alert.kind) ? title : t('alerts.line', { name, title })
}

/** Returns why the alert is open, with its values; null for a kind that this page does not know. */
export function alertReason({ kind, data }: Pick<Described, 'kind' | 'data'>): string | null {
  if (!isAlertKind(kind)) return null
  const { receiver, threshold, fault, failures, error } = data
  const why = (name: AlertKind) => t(`alerts.reasons.${name}`)
  switch (kind) {
    case 'battery_low':
    case 'battery_critical':
      return batteryReason(data) ?? why(kind)
    case 'battery_died':
      return data.battery === null
        ? why(kind)
        : t('alerts.reasons.batteryDiedAt', { battery: formatPercent(data.battery) })
    case 'stale':
      return receiver === null ? why(kind) : t('alerts.reasons.staleReceiver', { receiver: plainText(receiver) })
    case 'rf_weak':
      return threshold === null ? why(kind) : t('alerts.reasons.rfWeakBelow', { level: formatDbm(threshold) })
    case 'no_audio':
      return threshold === null ? why(kind) : t('alerts.reasons.noAudioFor', { time: formatMinutes(threshold) })
    case 'charger_fault':
      return fault === undefined ? why(kind) : t(`channel.faults.${fault}`)
    case 'will_not_last':
      return lastsReason(data) ?? why(kind)
    case 'upstream_failing': {
      const failed = failures === undefined ? why(kind) : t('alerts.reasons.failures', { count: failures })
      return error ? sentences(toSentence(plainText(error)), failed) : failed
    }
    case 'link_lost':
    case 'storage_failing':
    case 'recording_stopped':
      return sentences(why(kind), error)
    default:
      return why(kind)
  }
}

/** Returns when a snooze ends, as text. */
export function snoozeEndText(until: string): string {
  if (until === 'cleared') return t('alerts.snoozedUntilCleared')
  return until === 'show_end' ? t('alerts.snoozedUntilShowEnd') : formatMoment(until)
}

/** Responses on a local listener are recorded as `local`. */
export function personName(name: string): string {
  return name === 'local' ? t('alerts.localUser') : plainText(name)
}

export function isAlertKind(kind: string): kind is AlertKind {
  return Object.hasOwn(alertKindDefaults, kind)
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

/** Before `crossed` was known, every limit was a percentage. */
function batteryLimit({ battery, threshold, crossed }: AlertBody['data']): string | null {
  if (threshold === null || (crossed === undefined && battery === null)) return null
  const limit = crossed === 'minutes_left' ? formatMinutes(threshold) : formatPercent(threshold)
  return t('alerts.reasons.limit', { limit })
}

function lastsReason({ minutes_left: minutes, ends_at }: AlertBody['data']): string | null {
  if (minutes === null || ends_at === undefined) return null
  return t('alerts.reasons.willNotLastUntil', { time: formatMinutes(minutes), end: formatClock(Date.parse(ends_at)) })
}

function sentences(first: string, second: string | null | undefined): string {
  return second ? `${first} ${plainText(second)}` : first
}

function formatMinutes(minutes: number): string {
  return formatShortDuration(minutes * 60_000)
}

/** Words alerts in English, from their kind and data. */

import { alertKindTable, isAlertKind } from '../../contract/alert-kinds.ts'
import type { Alert, AlertCause, AlertData } from './alert.ts'

type Described = Pick<AlertCause, 'kind' | 'manufacturer' | 'data'>

export function describeAlert(alert: Described): string {
  const { kind, data } = alert
  // A newer version may have stored other kinds.
  const sentence = isAlertKind(kind) ? alertKindTable[kind].sentence(toValues(alert)) : nameSubject(data)
  return hasOtherPack(data) ? `${sentence} (pack ${data.pack})` : (sentence ?? kind)
}

/** True if a channel's pack is known, and is not its title. */
export function hasOtherPack({ pack, title }: AlertData): boolean {
  return Boolean(pack) && title !== undefined && pack !== title
}

const alertEndings = ['resolved', 'unmonitored', 'disabled', 'stopped'] as const

/** The reason for clearing an alert. */
export type AlertEnding = (typeof alertEndings)[number]

/** Words an alert with other names. A cleared alert keeps its reason for clearing. */
export function describeWith(alert: Described & Pick<Alert, 'message' | 'cleared_at'>, data: AlertData): string {
  const message = describeAlert({ ...alert, data })
  if (alert.cleared_at === null) return message
  const before = { ...alert, message: describeAlert(alert) }
  const ending = alertEndings.find((one) => describeEnding(before, one) === alert.message) ?? 'resolved'
  return describeEnding({ ...alert, data, message }, ending)
}

export function describeEnding(alert: Described & Pick<Alert, 'message'>, ending: AlertEnding): string {
  const { kind, manufacturer, data, message } = alert
  switch (ending) {
    case 'unmonitored':
      return `No longer monitored: ${message}`
    case 'disabled':
      return `Disabled by a setting: ${message}`
    case 'stopped':
      return `The subscription to ${manufacturer} was stopped by a user${data.address === undefined ? '' : ` (${data.address})`}`
    case 'resolved':
      // A newer version may have stored other kinds.
      return (isAlertKind(kind) && alertKindTable[kind].ending?.(toValues(alert))) || `Resolved: ${message}`
  }
}

function toValues({ manufacturer, data }: Described) {
  return { ...data, manufacturer, subject: nameSubject(data) ?? 'Unknown' }
}

/** Names the channel by its slot and title, without names by its slot alone; null if nothing is known. */
export function nameSubject({ slot, title, name, receiver }: Partial<AlertData>): string | null {
  if (slot != null && title === null) return String(slot)
  const known = title ?? name ?? receiver ?? null
  return known === null || slot == null ? known : `${slot} ${known}`
}

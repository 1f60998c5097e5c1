/** Words alerts in English, from their kind and data. */

import { alertKindTable, isAlertKind } from '../../contract/alert-kinds.ts'
import type { Alert, AlertCause, AlertData } from './alert.ts'

type Described = Pick<AlertCause, 'kind' | 'manufacturer' | 'data'>

export function describeAlert(alert: Described): string {
  const { pack, title } = alert.data
  const sentence = alertKindTable[alert.kind].sentence(toValues(alert))
  return pack && title && pack !== title ? `${sentence} (pack ${pack})` : sentence
}

/** The reason for clearing an alert. */
export type AlertEnding = 'resolved' | 'unmonitored' | 'disabled' | 'stopped'

export function describeEnding(alert: Alert, ending: AlertEnding): string {
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

/** Names the channel by its slot and title; null if nothing is known. */
export function nameSubject({ slot, title, name, receiver }: AlertData): string | null {
  const known = title ?? name ?? receiver
  return known === null || slot === null ? known : `${slot} ${known}`
}

/** Words alerts in English, from their kind and data. */

import { alertKindTable, isAlertKind } from '../../contract/alert-kinds.ts'
import type { Alert, AlertCause } from './alert.ts'

type Described = Pick<AlertCause, 'kind' | 'manufacturer' | 'data'>

export function describeAlert(alert: Described): string {
  return alertKindTable[alert.kind].sentence(toValues(alert))
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
  return { ...data, manufacturer, subject: data.name ?? data.receiver ?? 'Unknown' }
}

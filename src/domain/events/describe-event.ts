/** Describes events in English, from their kind and data. */

import type { CheckResult, EventKind, GapReason } from '../../contract/values.ts'
import type { AlertData } from '../alerts/alert.ts'

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
  readonly show_id?: number
  readonly title?: string
  readonly reason?: GapReason
  readonly result?: CheckResult
  readonly note?: string | null
}

/** Alerts and markers have texts of their own. */
export function describeEvent(kind: EventKind, manufacturer: string | null, data: EventData): string {
  const name = data.name ?? data.receiver ?? 'Unknown'
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
      return `${data.from ?? 'Unknown'} was renamed to ${data.to ?? 'none'}`
    case 'moved':
      return `${name} moved ${change}`
    case 'assigned':
      return `${data.performer?.name ?? 'Unknown'} was assigned to ${name}`
    case 'unassigned':
      return `${data.performer?.name ?? 'Unknown'} is no longer assigned to ${name}`
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

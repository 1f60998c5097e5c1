/** Words alerts in English, from their kind and data. */

import type { Fault } from '../../contract/values.ts'
import type { Alert, AlertCause } from './alert.ts'

type Described = Pick<AlertCause, 'kind' | 'manufacturer' | 'data'>

/** Describes what an alert is about. */
export function describeAlert({ kind, manufacturer, data }: Described): string {
  const { receiver, threshold, fault, address, error, failures, minutes_left, rf_level } = data
  const name = data.name ?? receiver ?? 'Unknown'
  const reason = error === undefined || error === null ? '' : `: ${error}`
  switch (kind) {
    case 'receiver_offline':
      return `${name} is offline`
    case 'stale':
      return `${name}: nothing is received from ${receiver ?? 'the receiver'}`
    case 'levels_lost':
      return `${name}: no levels are received`
    case 'encryption_error':
      return `${name}: the encryption keys do not match`
    case 'battery_critical':
    case 'battery_low':
      return `${name}: ${batteryText(data)}`
    case 'battery_died':
      return `${name}: battery died${lastBatteryText(data)}`
    case 'interference':
      return `${name}: RF interference`
    case 'rf_weak':
      return `${name}: weak RF signal${rf_level === undefined ? '' : ` (${rf_level} dBm, limit ${threshold} dBm)`}`
    case 'no_audio':
      return `${name}: no audio for ${threshold ?? '?'} min`
    case 'will_not_last':
      return `${name}: the battery will not last until the end of the show${minutes_left === null ? '' : ` (${toMinutes(minutes_left)} left)`}`
    case 'frequency_conflict':
      return `${name}: frequency conflict${conflictText(data)}`
    case 'charger_fault':
      return `${name}: ${fault === undefined ? 'fault' : faultTexts[fault]}`
    case 'upstream_failing':
      return `${manufacturer} failed ${failures ?? 'several'} times in a row (${address})${reason}`
    case 'link_lost':
      return `The subscription to ${manufacturer} was lost (${address})`
    case 'storage_failing':
      return `${error ?? 'The database cannot be written. Changes are not stored'}`
    case 'recording_stopped':
      return `The recording of levels has stopped${reason}`
    default:
      return kind satisfies never
  }
}

function conflictText({ conflict, generators = [] }: AlertCause['data']): string {
  switch (conflict) {
    case undefined:
      return ''
    case 'foreign':
      return ' (RF although the transmitter is off)'
    case 'outside_band':
      return ' (outside the band of the equipment)'
    case 'tv':
      return ' (in a TV channel in use)'
    case 'duplicate':
      return ` (same frequency as ${generators.join(', ')})`
    case 'spacing':
      return ` (too close to ${generators.join(', ')})`
    default:
      return ` (intermodulation of ${generators.join(', ')})`
  }
}

/** Names the value that crossed its limit, and the limit. */
function batteryText({ battery, minutes_left, threshold, crossed }: AlertCause['data']): string {
  const level = battery === null ? '' : ` (${battery}%)`
  if (crossed === 'warning') return `battery low${level}`
  if (minutes_left !== null && (crossed === 'minutes_left' || battery === null)) {
    const limit = crossed === undefined || threshold === null ? '' : `, limit ${toMinutes(threshold)}`
    return `${toMinutes(minutes_left)} of battery left${level}${limit}`
  }
  if (battery === null) return 'battery low'
  return `battery at ${battery}%${threshold === null ? '' : `, limit ${threshold}%`}`
}

function lastBatteryText({ battery, minutes_left }: AlertCause['data']): string {
  if (battery !== null) return ` (last at ${battery}%)`
  return minutes_left === null ? '' : ` (last with ${toMinutes(minutes_left)} left)`
}

function toMinutes(minutes: number): string {
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}

/** Why an alert was cleared. */
export type AlertEnding = 'resolved' | 'unmonitored' | 'disabled' | 'stopped'

/** Describes why an alert was cleared. */
export function describeEnding(
  { kind, manufacturer, data, message }: Described & Pick<Alert, 'message'>,
  ending: AlertEnding,
): string {
  const { name, address } = data
  switch (ending) {
    case 'unmonitored':
      return `No longer monitored: ${message}`
    case 'disabled':
      return `Disabled by a setting: ${message}`
    case 'stopped':
      return `The subscription to ${manufacturer} was stopped by a user${address === undefined ? '' : ` (${address})`}`
    case 'resolved':
      if (kind === 'receiver_offline' && name !== null) return `${name} is online again`
      if (kind === 'levels_lost') return `${name ?? 'Unknown'}: levels are received again`
      if (kind === 'recording_stopped') return 'Levels are recorded again'
      if (kind === 'upstream_failing' && address !== undefined) return `${manufacturer} works again (${address})`
      if (kind === 'link_lost' && address !== undefined)
        return `The subscription to ${manufacturer} is connected again (${address})`
      return `Resolved: ${message}`
    default:
      return ending satisfies never
  }
}

export const faultTexts: Readonly<Record<Fault, string>> = {
  self_test_failed: 'self-test failed',
  no_clock: 'no word clock',
  bad_clock: 'the word clock is faulty',
  antenna_short: 'short circuit at an antenna input',
  antenna_error: 'an antenna has an error',
  hardware_failure: 'hardware failure',
  supply_failed: 'a power supply has failed',
  fan_failed: 'a fan has failed',
  device_too_hot: 'the device is too hot',
  settings_lost: 'settings were lost',
  update_failed: 'the firmware update failed',
  charger_link_lost: 'the link between the chargers is lost',
  battery_error: 'battery error',
  unknown_module: 'unknown charging module',
  unrecognized_battery: 'battery not recognized',
  recovery_failed: 'deep discharge recovery failed',
  charge_failed: 'charging failed',
  check_battery: 'check the battery',
  check_charger: 'check the charger',
  communication_failure: 'no communication with the battery',
  too_hot: 'the battery is too hot to charge',
  too_cold: 'the battery is too cold to charge',
  temperature_out_of_range: 'the battery is too hot or too cold to charge',
  storage_mode: 'storage mode is on (batteries are charged to only 40%)',
}

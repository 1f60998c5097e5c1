/**
 * Variables. Those of a slot that the Shure module has too have its names (`ch_1_battery_bars`), with the number of the
 * slot in place of the channel. Text has units; what ends in a unit (`ch_1_rf_level_dbm`) is a plain number.
 */

import type { CompanionVariableDefinitions, CompanionVariableValue } from '@companion-module/base'
import { isCurrent, isIn, type SlotStatus, stateNames, type View } from './view.ts'

export type Values = Record<string, CompanionVariableValue>

/** What every text is while there is no connection to Micwatch, and readings while the receiver is offline. */
const offline = 'offline'
/** For values that the equipment does not report or that need a transmitter. The Shure module uses the same word. */
const unknown = 'Unknown'

interface SlotVariable {
  readonly label: string
  /**
   * `name` is kept without a connection. A `state` comes from Micwatch. A `reading` comes from the equipment, and is
   * current only while its receiver is. A `number` is a reading for expressions, undefined if it is unknown.
   */
  readonly kind: 'name' | 'state' | 'reading' | 'number'
  /** Levels change all the time, so they are set less often. */
  readonly isLevel?: true
  read(status: SlotStatus): string | number | boolean | null
}

const slotVariables: Readonly<Record<string, SlotVariable>> = {
  name: { label: 'name', kind: 'name', read: ({ name }) => name },
  pack: { label: 'transmitter name', kind: 'name', read: ({ pack }) => pack ?? '' },
  performer: { label: 'performer', kind: 'name', read: ({ performer }) => performer ?? '' },
  receiver: { label: 'receiver', kind: 'name', read: ({ receiver }) => receiver ?? '' },
  state: { label: 'state', kind: 'state', read: ({ condition }) => condition.state },
  status: {
    label: 'state in words',
    kind: 'state',
    read: ({ condition }) => stateNames[condition.state] ?? condition.state,
  },
  severity: { label: 'severity', kind: 'state', read: ({ condition }) => condition.severity },
  attention: { label: 'needs attention', kind: 'state', read: ({ condition }) => condition.attention },
  listeners: { label: 'who listens', kind: 'state', read: ({ listeners }) => listeners.join(', ') },
  not_now: { label: 'not now', kind: 'state', read: ({ isNotNow }) => isNotNow },
  battery_charge: { label: 'battery', kind: 'reading', read: ({ battery }) => withUnit(battery?.percent, '%') },
  battery_bars: { label: 'battery bars', kind: 'reading', read: ({ battery }) => battery?.bars ?? null },
  battery_runtime: { label: 'battery run time', kind: 'reading', read: ({ battery }) => runTime(battery?.minutes) },
  battery_type: { label: 'battery type', kind: 'reading', read: ({ battery }) => battery?.type ?? null },
  battery_percent: { label: 'battery in percent', kind: 'number', read: ({ battery }) => battery?.percent ?? null },
  battery_minutes: { label: 'battery in minutes', kind: 'number', read: ({ battery }) => battery?.minutes ?? null },
  frequency: { label: 'frequency', kind: 'reading', read: ({ frequency }) => withUnit(frequency, ' MHz') },
  frequency_mhz: { label: 'frequency in MHz', kind: 'number', read: ({ frequency }) => toNumber(frequency) },
  tx_model: { label: 'transmitter model', kind: 'reading', read: ({ model }) => model },
  tx_mute_status: { label: 'transmitter mute', kind: 'reading', read: (status) => onOff(status.isTransmitterMuted) },
  audio_mute: { label: 'receiver mute', kind: 'reading', read: (status) => onOff(status.isReceiverMuted) },
  encryption_status: {
    label: 'encryption',
    kind: 'reading',
    read: ({ encryption }) => encryption?.toUpperCase() ?? null,
  },
  interference_status: {
    label: 'interference',
    kind: 'reading',
    read: (status) => (isIn(status, 'interference') ? 'DETECTED' : 'NONE'),
  },
  antenna: { label: 'antennas in use', kind: 'reading', isLevel: true, read: ({ antennas }) => antennas },
  signal_quality: {
    label: 'link quality',
    kind: 'reading',
    isLevel: true,
    read: ({ quality }) => withUnit(quality, '%'),
  },
  rf_level: { label: 'RF level', kind: 'reading', isLevel: true, read: rfText },
  rf_level_dbm: { label: 'RF level in dBm', kind: 'number', isLevel: true, read: ({ rfDbm }) => rfDbm },
  audio_level: {
    label: 'audio level',
    kind: 'reading',
    isLevel: true,
    read: ({ audioDbfs }) => withUnit(audioDbfs, ' dBFS'),
  },
  audio_level_dbfs: { label: 'audio level in dBFS', kind: 'number', isLevel: true, read: ({ audioDbfs }) => audioDbfs },
}

/** The Shure module has these also for transmitter slots, of which Micwatch knows the one that is received. */
const transmitterVariables = ['battery_charge', 'battery_bars', 'battery_runtime'] as const

const overview: Readonly<Record<string, { readonly label: string; read(view: View): string | number | boolean }>> = {
  attention_count: {
    label: 'Channels that need attention',
    read: (view) => count(view, ({ condition }) => condition.attention),
  },
  alert_count: { label: 'Alerts that are not acknowledged', read: ({ alerts }) => alerts.length },
  alert_latest: { label: 'Newest alert', read: ({ alerts }) => alerts[0]?.message ?? '' },
  battery_low_count: { label: 'Channels with a low battery', read: (view) => count(view, isBatteryLow) },
  battery_critical_count: { label: 'Channels with a critical battery', read: (view) => count(view, isBatteryCritical) },
  channel_count: { label: 'Channels', read: (view) => count(view, ({ channelId }) => channelId !== null) },
  tx_on_count: {
    label: 'Transmitters that are on',
    read: (view) => count(view, (status) => status.battery !== null && isCurrent(status)),
  },
  receivers_offline: { label: 'Receivers that are offline', read: ({ receiversOffline }) => receiversOffline },
  sources_failing: { label: 'Systems and devices that fail', read: ({ sourcesFailing }) => sourcesFailing },
  show_running: { label: 'Whether a show runs', read: ({ runningShow }) => runningShow !== null },
  listener_count: { label: 'Listeners', read: ({ listeners }) => listeners.length },
  listeners: {
    label: 'Who listens to what',
    read: ({ listeners }) => listeners.map(({ by, to }) => `${by}: ${to}`).join('; '),
  },
  show_title: { label: 'Running show', read: ({ runningShow }) => runningShow ?? '' },
}

export const isBatteryCritical = (status: SlotStatus) => isIn(status, 'battery_critical', 'battery_died')
export const isBatteryLow = (status: SlotStatus) => isBatteryCritical(status) || isIn(status, 'battery_low')

export function variableDefinitions(slots: Iterable<number>): CompanionVariableDefinitions {
  const definitions: CompanionVariableDefinitions = {
    connection: { name: 'Connection to Micwatch: online or offline' },
  }
  for (const [id, { label }] of Object.entries(overview)) definitions[id] = { name: label }
  for (const slot of slots) {
    for (const [suffix, { label }] of Object.entries(slotVariables)) {
      definitions[`ch_${slot}_${suffix}`] = { name: `Slot ${slot}: ${label}` }
    }
    for (const suffix of transmitterVariables) {
      definitions[transmitterId(slot, suffix)] = { name: `Slot ${slot}, transmitter: ${slotVariables[suffix]?.label}` }
    }
  }
  return definitions
}

/** Returns the values of all variables; without `withLevels`, those of levels are left out. */
export function variableValues(view: View, withLevels: boolean): Values {
  const values: Values = { connection: view.isConnected ? 'online' : offline }
  for (const [id, { read }] of Object.entries(overview)) values[id] = view.isConnected ? read(view) : offline
  for (const [slot, status] of view.slots) {
    for (const [suffix, variable] of Object.entries(slotVariables)) {
      if (withLevels || variable.isLevel !== true)
        values[`ch_${slot}_${suffix}`] = readValue(variable, status, view.isConnected)
    }
    for (const suffix of transmitterVariables) values[transmitterId(slot, suffix)] = values[`ch_${slot}_${suffix}`]
  }
  return values
}

const transmitterId = (slot: number, suffix: string) => `slot_${slot}-01_${suffix}`

function readValue({ kind, read }: SlotVariable, status: SlotStatus, isConnected: boolean): CompanionVariableValue {
  if (kind === 'name') return read(status)
  if (kind === 'state') return isConnected ? read(status) : offline
  const reading = isConnected && isCurrent(status) ? read(status) : undefined
  if (kind === 'number') return reading ?? undefined
  if (reading !== undefined) return reading ?? unknown
  return isConnected && !isIn(status, 'receiver_offline') ? 'stale' : offline
}

function count({ slots }: View, isCounted: (status: SlotStatus) => boolean): number {
  return [...slots.values()].filter(isCounted).length
}

function withUnit(value: number | string | null | undefined, unit: string): string | null {
  return value === null || value === undefined ? null : `${value}${unit}`
}

const toNumber = (text: string | null) => (text === null ? null : Number(text))

/** Hours and minutes, as in the Shure module: `2:05`. */
function runTime(minutes: number | null | undefined): string | null {
  if (minutes === null || minutes === undefined) return null
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`
}

const onOff = (isOn: boolean | null) => (isOn === null ? null : isOn ? 'ON' : 'OFF')

function rfText({ rfDbm, rfPercent }: SlotStatus): string | null {
  return rfDbm === null ? withUnit(rfPercent, '%') : withUnit(rfDbm, ' dBm')
}

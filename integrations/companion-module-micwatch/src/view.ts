/** Computes the display of buttons from the live state. All conditions come from Micwatch. */

import type { LiveState } from './live-state.ts'
import type { Alert, Channel, Condition, Group, Listener, Placeholder, Severity, SlotRecord } from './wire.ts'

/** The state of one slot of the wall. Unknown values are null. */
export interface SlotStatus {
  readonly slot: number
  /** Null for a placeholder. */
  readonly channelId: number | null
  /** The title of the slot. */
  readonly name: string
  readonly performer: string | null
  /** The name of the transmitter. */
  readonly pack: string | null
  readonly receiver: string | null
  readonly condition: Condition
  /** Null while no transmitter is received. */
  readonly battery: Battery | null
  readonly model: string | null
  readonly rfDbm: number | null
  /** On the equipment's own scale, if it does not report dBm. */
  readonly rfPercent: number | null
  readonly audioDbfs: number | null
  readonly quality: number | null
  readonly antennas: string | null
  readonly frequency: string | null
  readonly encryption: string | null
  readonly isTransmitterMuted: boolean | null
  readonly isReceiverMuted: boolean | null
  readonly isNotNow: boolean
  /** The names of those who listen to the channel. */
  readonly listeners: readonly string[]
}

interface Battery {
  readonly percent: number | null
  readonly bars: number | null
  readonly minutes: number | null
  readonly type: string | null
}

export interface View {
  /** False while there is no live connection; then nothing of the rest is current. */
  readonly isConnected: boolean
  /** By slot, in ascending order. */
  readonly slots: ReadonlyMap<number, SlotStatus>
  readonly groups: readonly Group[]
  /** Alerts that are raised and not silenced, newest first. */
  readonly alerts: readonly Alert[]
  readonly runningShow: string | null
  readonly receiversOffline: number
  readonly sourcesFailing: number
  /** Who listens to what. */
  readonly listeners: readonly { readonly by: string; readonly to: string }[]
}

export const emptyView: View = {
  isConnected: false,
  slots: new Map(),
  groups: [],
  alerts: [],
  runningShow: null,
  receiversOffline: 0,
  sourcesFailing: 0,
  listeners: [],
}

export function createView(state: LiveState, isConnected: boolean): View {
  const performers = new Map(state.assignments.map(({ channel_id, performer }) => [channel_id, performer.name]))
  const statuses = [
    ...state.placeholders
      .filter(({ kind }) => kind !== 'blank')
      .map((placeholder) => placeholderStatus(placeholder, state.slotRecords.get(placeholder.slot))),
    ...[...state.channels.values()].map((channel) => {
      const record = state.slotRecords.get(channel.slot)
      const performer = record?.performer?.name ?? performers.get(channel.id) ?? null
      const receiver = state.receivers.get(channel.receiver_id)?.name ?? null
      const listeners = state.listeners.filter(({ channel_id }) => channel_id === channel.id).map(({ by }) => by)
      return channelStatus(channel, { title: record?.title ?? performer, performer, receiver, listeners })
    }),
  ]
  const alerts = [...state.alerts.values()].filter((alert) => alert.state === 'raised' && !alert.silenced)
  const slots = new Map(statuses.sort((a, b) => a.slot - b.slot).map((status) => [status.slot, status]))
  return {
    isConnected,
    slots,
    groups: state.groups,
    alerts: alerts.sort((a, b) => b.raised_at.localeCompare(a.raised_at) || b.id - a.id),
    runningShow: [...state.shows.values()].at(-1)?.title ?? null,
    receiversOffline: [...state.receivers.values()].filter(({ is_active }) => !is_active).length,
    sourcesFailing: [...state.sources.values()].filter(({ status }) => isFailing(status)).length,
    listeners: state.listeners.map((listener) => ({ by: listener.by, to: nameOf(listener, slots) })),
  }
}

/** With a group, only its channels are known. */
function nameOf({ channel_id, stream_id, ch }: Listener, slots: ReadonlyMap<number, SlotStatus>): string {
  if (channel_id === null) return `stream ${stream_id}, channel ${ch}`
  const status = [...slots.values()].find(({ channelId }) => channelId === channel_id)
  return status?.name ?? `channel ${channel_id}`
}

const isFailing = (status: string | null) => status === 'unhealthy' || status === 'degraded'

function placeholderStatus({ slot, name, condition }: Placeholder, record: SlotRecord | undefined): SlotStatus {
  return {
    slot,
    channelId: null,
    name: record?.title ?? name,
    performer: record?.performer?.name ?? null,
    pack: null,
    receiver: null,
    condition,
    battery: null,
    model: null,
    rfDbm: null,
    rfPercent: null,
    audioDbfs: null,
    quality: null,
    antennas: null,
    frequency: null,
    encryption: null,
    isTransmitterMuted: null,
    isReceiverMuted: null,
    isNotNow: false,
    listeners: [],
  }
}

/** Version 1.0.0 sends no titles. */
function channelStatus(
  channel: Channel,
  {
    title,
    performer,
    receiver,
    listeners,
  }: Pick<SlotStatus, 'performer' | 'receiver' | 'listeners'> & { readonly title: string | null },
): SlotStatus {
  const { transmitter, details, not_now = null } = channel
  return {
    slot: channel.slot,
    channelId: channel.id,
    name: title || transmitter?.name || channel.name || `Slot ${channel.slot}`,
    performer,
    pack: transmitter?.name ?? null,
    receiver,
    condition: channel.condition,
    battery: transmitter === null ? null : batteryOf(transmitter),
    model: transmitter?.details?.model ?? null,
    rfDbm: transmitter === null ? channel.rf_level : transmitter.rf_level,
    rfPercent: details?.rf_percent ?? null,
    audioDbfs: transmitter === null ? channel.audio_level : transmitter.audio_level,
    quality: details?.quality ?? null,
    antennas: details?.antennas ?? null,
    frequency: channel.frequency,
    encryption: details?.encryption ?? null,
    isTransmitterMuted: transmitter?.details?.muted ?? null,
    isReceiverMuted: details?.muted ?? null,
    isNotNow: not_now !== null,
    listeners,
  }
}

function batteryOf({ battery, forecast, details }: NonNullable<Channel['transmitter']>): Battery {
  return {
    percent: battery,
    bars: details?.battery_bars ?? (battery === null ? null : Math.ceil(battery / 20)),
    minutes: details?.battery_minutes ?? forecast?.minutes_left ?? null,
    type: details?.battery_type ?? null,
  }
}

/** Returns whether one of the states is the slot's state or one of its flags. */
export function isIn({ condition }: SlotStatus, ...states: readonly string[]): boolean {
  return states.some((state) => condition.state === state || condition.flags.includes(state))
}

/** Returns whether the readings of the slot are current. While the receiver is offline or silent, they are not. */
export const isCurrent = (status: SlotStatus): boolean => !isIn(status, 'receiver_offline', 'stale')

/** Micwatch's words for the states of a channel. */
export const stateNames: Readonly<Record<string, string>> = {
  receiver_offline: 'Receiver offline',
  stale: 'Stale',
  no_levels: 'No levels',
  encryption_error: 'Encryption error',
  battery_critical: 'Battery critical',
  battery_died: 'Battery died',
  interference: 'Interference',
  rf_weak: 'RF weak',
  battery_low: 'Battery low',
  no_audio: 'No audio',
  muted: 'Muted',
  clipping: 'Clipping',
  battery_replace_soon: 'Replace soon',
  charging: 'Charging',
  tx_off: 'TX off',
  no_battery_data: 'TX on',
  ok: 'OK',
  unmonitored: 'Not monitored',
}

/** How the slot looks: its severity, or grey if it is not in use or not current. */
export type Look = Severity | 'off' | 'offline'

export function lookOf(status: SlotStatus | undefined, isConnected: boolean): Look {
  if (status === undefined || !isConnected) return 'offline'
  const { state, severity } = status.condition
  return state === 'tx_off' || state === 'charging' || state === 'unmonitored' ? 'off' : severity
}

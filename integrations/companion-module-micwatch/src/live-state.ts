/** A copy of Micwatch's data, which the messages of the live interface keep up to date. */

import type {
  Alert,
  Assignment,
  Channel,
  Group,
  LevelEntry,
  Listener,
  LiveMessage,
  Placeholder,
  Receiver,
  Show,
  SlotRecord,
  Snapshot,
  Source,
} from './wire.ts'

export interface LiveState {
  readonly receivers: Map<number, Receiver>
  readonly channels: Map<number, Channel>
  /** Alerts that are not cleared. */
  readonly alerts: Map<number, Alert>
  /** Running shows. */
  readonly shows: Map<number, Show>
  /** By address. */
  readonly sources: Map<string, Source>
  /** By slot. */
  readonly slotRecords: Map<number, SlotRecord>
  placeholders: readonly Placeholder[]
  assignments: readonly Assignment[]
  groups: readonly Group[]
  listeners: readonly Listener[]
}

export function createLiveState(): LiveState {
  return {
    receivers: new Map(),
    channels: new Map(),
    alerts: new Map(),
    shows: new Map(),
    sources: new Map(),
    slotRecords: new Map(),
    placeholders: [],
    assignments: [],
    groups: [],
    listeners: [],
  }
}

/** Changes `state` as the message says. Messages of other types change nothing. */
export function applyMessage(state: LiveState, message: LiveMessage): void {
  switch (message.type) {
    case 'snapshot':
      applySnapshot(state, message.data)
      break
    case 'receiver':
      merge(state.receivers, message)
      break
    case 'receiver_added':
      addReceiver(state, message.receiver)
      break
    case 'receiver_removed':
      state.receivers.delete(message.id)
      for (const { id, receiver_id } of state.channels.values())
        if (receiver_id === message.id) state.channels.delete(id)
      break
    case 'channel':
      applyChannel(state, message)
      break
    case 'channel_removed':
      state.channels.delete(message.id)
      break
    case 'slots':
      for (const [id, slot] of message.values) merge(state.channels, { id, slot })
      break
    case 'placeholders':
      state.placeholders = message.placeholders
      break
    case 'assignments':
      state.assignments = message.assignments
      break
    case 'slot_records':
      for (const record of message.slots) state.slotRecords.set(record.slot, record)
      for (const slot of message.removed) state.slotRecords.delete(slot)
      break
    case 'groups':
      state.groups = message.groups
      break
    case 'alert':
      if (message.state === 'cleared') state.alerts.delete(message.id)
      else state.alerts.set(message.id, message)
      break
    case 'show':
      if (message.show.state === 'running') state.shows.set(message.show.id, message.show)
      else state.shows.delete(message.show.id)
      break
    case 'source':
      if (message.status === null) state.sources.delete(message.address)
      else state.sources.set(message.address, message)
      break
    case 'listeners':
      state.listeners = message.listeners
      break
    case 'levels':
      for (const entry of message.values) applyLevels(state, entry)
      break
    default:
      // `resumed`, `tick` and others change nothing.
      break
  }
}

function applySnapshot(state: LiveState, data: Snapshot): void {
  const { receivers, channels, alerts, shows, sources, slotRecords } = state
  for (const records of [receivers, channels, alerts, shows, sources, slotRecords]) records.clear()
  for (const receiver of data.receivers) addReceiver(state, receiver)
  for (const alert of data.alerts) state.alerts.set(alert.id, alert)
  for (const show of data.shows) state.shows.set(show.id, show)
  for (const source of data.sources) state.sources.set(source.address, source)
  for (const record of data.slot_records ?? []) slotRecords.set(record.slot, record)
  state.placeholders = data.placeholders
  state.assignments = data.assignments
  state.groups = data.groups
  state.listeners = data.listeners ?? []
}

function addReceiver(state: LiveState, { channels, ...receiver }: Snapshot['receivers'][number]): void {
  state.receivers.set(receiver.id, receiver)
  for (const channel of channels) state.channels.set(channel.id, { ...channel, receiver_id: receiver.id })
}

/** A channel that is not known yet arrives with all its fields. */
function applyChannel(state: LiveState, message: Extract<LiveMessage, { type: 'channel' }>): void {
  const { type: _, seq: __, ...fields } = message
  const known = state.channels.get(fields.id)
  // Only the details that changed are present.
  if (known !== undefined)
    merge(state.channels, { ...fields, ...(fields.details && { details: { ...known.details, ...fields.details } }) })
  else if (isWhole(fields)) state.channels.set(fields.id, fields)
}

function isWhole(fields: Partial<Channel>): fields is Channel {
  return fields.slot !== undefined && fields.condition !== undefined && fields.transmitter !== undefined
}

function merge<T extends { readonly id: number }>(records: Map<number, T>, change: Partial<T> & { id: number }): void {
  const record = records.get(change.id)
  if (record !== undefined) records.set(change.id, { ...record, ...change })
}

/** An entry sets the levels of the transmitter, or of the channel while it has no transmitter. */
function applyLevels(state: LiveState, [id, rf_level = null, audio_level = null, quality]: LevelEntry): void {
  const channel = state.channels.get(id)
  if (channel === undefined) return
  const details = quality === undefined ? channel.details : { ...channel.details, quality }
  const { transmitter } = channel
  if (transmitter === null) state.channels.set(id, { ...channel, rf_level, audio_level, details })
  else state.channels.set(id, { ...channel, transmitter: { ...transmitter, rf_level, audio_level }, details })
}

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { applyMessage, createLiveState, type LiveState } from './live-state.ts'
import { drawMeters, metersOf } from './meters.ts'
import { variableDefinitions, variableValues } from './variables.ts'
import { createView, lookOf } from './view.ts'
import type { Channel, Condition, LiveMessage, Transmitter } from './wire.ts'

const ok: Condition = { state: 'ok', severity: 'ok', attention: false, flags: [] }
const transmitter: Transmitter = {
  name: 'Zoe',
  battery: 61,
  forecast: { minutes_left: 125 },
  audio_level: -20,
  rf_level: -47,
  details: { model: 'ADX1', muted: false },
}
const channel: Channel = {
  id: 7,
  receiver_id: 1,
  slot: 4,
  name: 'Ch 1',
  frequency: '470.300',
  audio_level: null,
  rf_level: null,
  transmitter,
  condition: ok,
}
const alert = {
  id: 3,
  state: 'raised',
  severity: 'warning',
  message: 'Zoe: battery at 18%',
  channel_id: 7,
  raised_at: '2026-05-01T18:00:00.000Z',
  silenced: false,
} as const

/** Returns a state with one channel, after these messages. */
function stateAfter(...messages: LiveMessage[]): LiveState {
  const { receiver_id: _, ...inReceiver } = channel
  const state = createLiveState()
  const receivers = [{ id: 1, name: 'AD4Q', is_active: true, channels: [inReceiver] }]
  const lists = { placeholders: [], assignments: [], groups: [], alerts: [], shows: [], sources: [] }
  applyMessage(state, { type: 'snapshot', seq: 1, epoch: 'a', data: { receivers, ...lists } })
  for (const message of messages) applyMessage(state, message)
  return state
}

const valuesAfter = (...messages: LiveMessage[]) => variableValues(createView(stateAfter(...messages), true), true)
const withCondition = (condition: Partial<Condition>): LiveMessage => ({
  type: 'channel',
  seq: 2,
  id: 7,
  receiver_id: 1,
  condition: { ...ok, ...condition },
})

// Conformance: C-21.24.
it('names a slot by its title, and the pack besides', () => {
  const record = { slot: 4, title: 'Nora', performer: { name: 'Nora' } }
  const named: LiveMessage = { type: 'slot_records', seq: 2, slots: [record], removed: [] }
  const namesAfter = (...messages: LiveMessage[]) => {
    const { ch_4_name, ch_4_performer, ch_4_pack } = valuesAfter(...messages)
    return [ch_4_name, ch_4_performer, ch_4_pack]
  }
  assert.deepEqual(namesAfter(named), ['Nora', 'Nora', 'Zoe'])
  assert.deepEqual(namesAfter(named, { type: 'slot_records', seq: 3, slots: [], removed: [4] }), ['Zoe', '', 'Zoe'])
})

// Conformance: C-16.111.
it('sets text with units and plain numbers', () => {
  const values = valuesAfter()
  assert.deepEqual(Object.fromEntries(Object.entries(values).filter(([id]) => id.startsWith('ch_4_'))), {
    ch_4_name: 'Zoe',
    ch_4_performer: '',
    ch_4_pack: 'Zoe',
    ch_4_receiver: 'AD4Q',
    ch_4_state: 'ok',
    ch_4_status: 'OK',
    ch_4_severity: 'ok',
    ch_4_attention: false,
    ch_4_listeners: '',
    ch_4_not_now: false,
    ch_4_battery_charge: '61%',
    ch_4_battery_bars: 4,
    ch_4_battery_runtime: '2:05',
    ch_4_battery_type: 'Unknown',
    ch_4_battery_percent: 61,
    ch_4_battery_minutes: 125,
    ch_4_frequency: '470.300 MHz',
    ch_4_frequency_mhz: 470.3,
    ch_4_tx_model: 'ADX1',
    ch_4_tx_mute_status: 'OFF',
    ch_4_audio_mute: 'Unknown',
    ch_4_encryption_status: 'Unknown',
    ch_4_interference_status: 'NONE',
    ch_4_antenna: 'Unknown',
    ch_4_signal_quality: 'Unknown',
    ch_4_rf_level: '-47 dBm',
    ch_4_rf_level_dbm: -47,
    ch_4_audio_level: '-20 dBFS',
    ch_4_audio_level_dbfs: -20,
  })
  assert.deepEqual(Object.keys(values).sort(), Object.keys(variableDefinitions([4])).sort())
})

it('applies levels to the transmitter, or to the channel while it has none', () => {
  const levels: LiveMessage = { type: 'levels', seq: 2, at: '', values: [[7, -60, -30, 95]] }
  assert.deepEqual([valuesAfter(levels).ch_4_rf_level, valuesAfter(levels).ch_4_signal_quality], ['-60 dBm', '95%'])
  const off: LiveMessage = { type: 'channel', seq: 2, id: 7, receiver_id: 1, transmitter: null, rf_level: -99 }
  const noise: LiveMessage = { type: 'levels', seq: 3, at: '', values: [[7, -70]] }
  const values = valuesAfter(off, noise)
  assert.deepEqual([values.ch_4_rf_level, values.ch_4_battery_charge, values.ch_4_name], ['-70 dBm', 'Unknown', 'Ch 1'])
})

// Conformance: C-16.115.
it('shows readings of an offline or silent receiver not as current', () => {
  const offline = valuesAfter(withCondition({ state: 'receiver_offline', severity: 'critical', attention: true }))
  assert.deepEqual(
    [offline.ch_4_battery_charge, offline.ch_4_battery_percent, offline.ch_4_status, offline.attention_count],
    ['offline', undefined, 'Receiver offline', 1],
  )
  const stale = valuesAfter(withCondition({ state: 'battery_critical', flags: ['stale'] }))
  assert.deepEqual([stale.ch_4_rf_level, stale.ch_4_status, stale.tx_on_count], ['stale', 'Battery critical', 0])
})

// Conformance: C-16.115.
it('shows nothing but names without a connection', () => {
  const values = variableValues(createView(stateAfter(), false), true)
  const rest = Object.entries(values).filter(([id]) => !/_(name|performer|pack|receiver)$/.test(id))
  assert.deepEqual([...new Set(rest.map(([, value]) => value))], ['offline', undefined])
  assert.equal(values.ch_4_name, 'Zoe')
  assert.equal(lookOf(createView(stateAfter(), false).slots.get(4), false), 'offline')
})

it('follows moved, added and removed channels, and placeholders', () => {
  const state = stateAfter(
    { type: 'slots', seq: 2, values: [[7, 9]] },
    { type: 'channel', seq: 3, ...channel, id: 8, slot: 5 },
    {
      type: 'placeholders',
      seq: 4,
      placeholders: [
        { slot: 6, name: 'Lectern', kind: 'wired', condition: { ...ok, state: 'unmonitored' } },
        { slot: 7, name: '', kind: 'blank', condition: { ...ok, state: 'unmonitored' } },
      ],
    },
  )
  assert.deepEqual([...createView(state, true).slots.keys()], [5, 6, 9])
  assert.equal(lookOf(createView(state, true).slots.get(6), true), 'off')
  applyMessage(state, { type: 'channel_removed', seq: 5, id: 8 })
  applyMessage(state, { type: 'receiver_removed', seq: 6, id: 1 })
  assert.deepEqual([...createView(state, true).slots.keys()], [6])
})

it('ignores a part of a channel that it does not know, and unknown channels in levels', () => {
  const state = stateAfter(
    { type: 'channel', seq: 2, id: 99, receiver_id: 1, name: 'x' },
    { type: 'levels', seq: 3, at: '', values: [[98, -50]] },
  )
  assert.deepEqual([...state.channels.keys()], [7])
})

it('lists raised alerts, newest first, without silenced and acknowledged ones', () => {
  const alerts = [
    alert,
    { ...alert, id: 4, raised_at: '2026-05-01T18:05:00.000Z', message: 'newest' },
    { ...alert, id: 5, silenced: true },
    { ...alert, id: 6, state: 'acknowledged' },
    { ...alert, id: 7 },
    { ...alert, id: 7, state: 'cleared' },
  ] as const
  const state = stateAfter(...alerts.map((one, seq) => ({ type: 'alert', seq, ...one }) as const))
  assert.deepEqual(
    createView(state, true).alerts.map(({ id }) => id),
    [4, 3],
  )
  assert.equal(variableValues(createView(state, true), true).alert_latest, 'newest')
})

it('counts offline receivers and failing sources, and names the running show', () => {
  const values = valuesAfter(
    { type: 'receiver', seq: 2, id: 1, is_active: false },
    { type: 'source', seq: 3, address: '10.0.0.1', status: 'unhealthy' },
    { type: 'show', seq: 4, show: { id: 1, title: 'Gala', state: 'running' } },
  )
  assert.deepEqual([values.receivers_offline, values.sources_failing, values.show_title], [1, 1, 'Gala'])
  const ended: LiveMessage = { type: 'show', seq: 5, show: { id: 1, title: 'Gala', state: 'ended' } }
  assert.equal(valuesAfter(ended).show_running, false)
})

// Conformance: C-27.100.
it('says who listens to which channel, and which must not be played', () => {
  const listener = { by: 'Ana', channel_id: 7, stream_id: 3, ch: 1 }
  const listeners = [listener, { ...listener, by: 'Ben' }, { ...listener, channel_id: null }]
  const message: LiveMessage = { type: 'listeners', seq: 2, listeners: [...listeners, { ...listener, channel_id: 9 }] }
  const values = valuesAfter(message)
  assert.deepEqual([values.ch_4_listeners, values.ch_4_not_now], ['Ana, Ben', false])
  assert.equal(values.listener_count, 4)
  assert.equal(values.listeners, 'Ana: Zoe; Ben: Zoe; Ana: stream 3, channel 1; Ana: channel 9')
  const ended = valuesAfter(message, { type: 'listeners', seq: 3, listeners: [] })
  assert.deepEqual([ended.ch_4_listeners, ended.listener_count, ended.listeners], ['', 0, ''])
  const notNow: LiveMessage = { type: 'channel', seq: 2, id: 7, receiver_id: 1, not_now: { by: 'Ana' } }
  assert.equal(valuesAfter(notNow).ch_4_not_now, true)
  assert.equal(valuesAfter(notNow, { ...notNow, seq: 3, not_now: null }).ch_4_not_now, false)
})

it('draws lit and dimmed segments of battery and RF', () => {
  const meters = metersOf(createView(stateAfter(), true).slots.get(4), true)
  assert.deepEqual(meters, { battery: 4, rf: 5 })
  const { imageBuffer, imageBufferPosition } = drawMeters({ battery: 1, rf: null }, { width: 72, height: 72 })
  const pixels = Buffer.from(imageBuffer, 'base64')
  assert.deepEqual(imageBufferPosition, { x: 0, y: 62, width: 72, height: 10 })
  assert.equal(pixels.length, 72 * 10 * 4)
  const alphaAt = (x: number, y: number) => pixels[(y * 72 + x) * 4 + 3]
  assert.deepEqual([alphaAt(5, 0), alphaAt(20, 0), alphaAt(5, 8)], [0xff, 0x40, 0])
})

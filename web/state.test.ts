import { describe, expect, it } from 'vitest'
import type { ChannelBody, DataBody, TransmitterBody } from '../src/contract/live.ts'
import { apply, applyAll, initialState, type WatchEvent, type WatchState } from './state.ts'

const start = 1_000_000

function transmitter(reported: Partial<TransmitterBody> = {}): TransmitterBody {
  const known = { slot: 1, upstream_slot: null, name: 'H04 Maria', frequency: '540.000' }
  return { ...known, battery: 80, audio_level: -20, rf_level: -50, ...reported }
}

function channel(reported: Partial<TransmitterBody> | null = {}, id = 11): ChannelBody {
  const known = { id, channel: 1, slot: id, name: 'Vocal', frequency: '540.000', audio_level: null, rf_level: null }
  return { ...known, transmitter: reported === null ? null : transmitter(reported) }
}

function data(...channels: ChannelBody[]): DataBody {
  const receiver = { id: 1, name: 'Rack A', device_type: 'ad', ip: '10.0.0.5', model: 'AD4Q', manufacturer: 'shure' }
  return {
    receivers: [{ ...receiver, is_active: true, channels }],
    discovered: [],
    config: { polling_interval: 10, alert_battery_threshold: 20, enable_websocket: true },
    groups: [],
    assignments: [],
    placeholders: [],
  }
}

function update(at: number, reported: Partial<TransmitterBody> | null, receiverId = 1): WatchEvent {
  const body = { receiver_id: receiverId, manufacturer: 'shure', data: { channels: [channel(reported)] } }
  return { type: 'message', message: { type: 'device_update', ...body }, at }
}

const opened: WatchEvent = { type: 'connection', connection: 'open', at: start }
const requested: WatchEvent = { type: 'snapshot_requested', at: start }
const snapshot = (at: number, reported: Partial<TransmitterBody> | null = {}): WatchEvent => ({
  type: 'snapshot',
  data: data(channel(reported)),
  at,
})
const lost = (at: number): WatchEvent => ({ type: 'connection', connection: 'lost', nextTryAt: at + 1_000, at })

function live(): WatchState {
  return applyAll(initialState(start), [opened, requested, snapshot(start)])
}

const shown = (watchState: WatchState) => watchState.receivers.get(1)?.channels[0]
const battery = (watchState: WatchState) => shown(watchState)?.transmitter?.battery

describe('snapshots and updates', () => {
  it('is fresh after a snapshot on an open connection', () => {
    expect(applyAll(initialState(start), [opened, requested]).isFresh).toBe(false)
    expect(live()).toMatchObject({ isFresh: true, phase: 'ready' })
  })

  it('keeps groups edited while a snapshot was loading until the next snapshot', () => {
    const groups = [{ id: 1, title: 'Band', slots: [1], hide_charts: false, manufacturer: null }]
    const watchState = applyAll(live(), [requested, { type: 'groups', groups, at: start + 1 }, snapshot(start + 2)])
    expect(watchState.groups).toEqual(groups)
    expect(applyAll(watchState, [requested, snapshot(start + 3)]).groups).toEqual([])
  })

  it('applies updates that arrived while the snapshot was loading', () => {
    const watchState = applyAll(initialState(start), [
      opened,
      requested,
      update(start + 1, { battery: 44 }),
      snapshot(start + 2, { battery: 45 }),
    ])
    expect(battery(watchState)).toBe(44)
  })

  it('applies no update after a gap until a new snapshot arrives', () => {
    const gap = applyAll(live(), [lost(start + 10), { ...opened, at: start + 20 }, { ...requested, at: start + 21 }])
    const early = apply(gap, update(start + 22, { battery: 44 }))
    expect(battery(early)).toBe(80)
    expect(early.isFresh).toBe(false)
    const whole = apply(early, snapshot(start + 23, { battery: 45 }))
    expect(battery(whole)).toBe(44)
    expect(whole.isFresh).toBe(true)
  })

  it('is stale after a snapshot that was requested before the reconnect', () => {
    const watchState = applyAll(live(), [
      lost(start + 10),
      { ...requested, at: start + 11 },
      { ...opened, at: start + 12 },
    ])
    expect(apply(watchState, snapshot(start + 13)).isFresh).toBe(false)
  })

  it('applies updates while the snapshot is refreshed', () => {
    const watchState = applyAll(live(), [{ ...requested, at: start + 5 }, update(start + 6, { battery: 44 })])
    expect(battery(watchState)).toBe(44)
    expect(battery(apply(watchState, snapshot(start + 7, { battery: 45 })))).toBe(44)
  })

  it('requests a snapshot for an update of an unknown receiver', () => {
    expect(apply(live(), update(start + 1, {}, 99)).needsSnapshot).toBe(true)
    expect(applyAll(live(), [update(start + 1, {}, 99), requested]).needsSnapshot).toBe(false)
  })

  it('removes receivers that are missing from the snapshot', () => {
    const watchState = applyAll(live(), [
      requested,
      { type: 'snapshot', data: { ...data(), receivers: [] }, at: start + 5 },
    ])
    expect(watchState.receivers.size).toBe(0)
  })

  it('applies a batch like single events', () => {
    const events = [update(start + 1, { battery: 70 }), lost(start + 2), update(start + 3, { battery: 60 })]
    expect(applyAll(live(), events)).toEqual(events.reduce(apply, live()))
  })

  it('does not modify the previous state', () => {
    const before = live()
    apply(before, update(start + 1, { battery: 1 }))
    expect(battery(before)).toBe(80)
  })
})

describe('failures', () => {
  const problem = { kind: 'unreachable', detail: 'No response.' } as const

  it('fails before the first snapshot, and keeps the displayed state afterwards', () => {
    const failed: WatchEvent = { type: 'snapshot_failed', problem, at: start }
    expect(apply(initialState(start), failed)).toMatchObject({ phase: 'failed', problem })
    expect(apply(live(), failed)).toMatchObject({ phase: 'ready', problem })
  })

  it('hides everything when the session has ended', () => {
    const failed: WatchEvent = { type: 'snapshot_failed', problem: { ...problem, kind: 'sign_in' }, at: start }
    expect(apply(live(), failed).phase).toBe('failed')
  })
})

describe('values kept per channel', () => {
  it('keeps the last battery and the time when the transmitter turns off', () => {
    const gone = applyAll(live(), [update(start + 1, { battery: 8 }), update(start + 2, null)])
    expect(shown(gone)).toMatchObject({ transmitter: null, lastBattery: 8, lastName: 'H04 Maria', offSince: start + 2 })
    expect(shown(apply(gone, update(start + 9, null)))?.offSince).toBe(start + 2)
    expect(shown(apply(gone, update(start + 9, {})))?.offSince).toBe(null)
  })

  it('dates a transmitter that turned off during a gap to the start of the gap', () => {
    const events = [lost(start + 3_000), opened, requested, snapshot(start + 60_000, null)]
    expect(shown(applyAll(live(), events))?.offSince).toBe(start)
  })

  it('keeps the time of the last overload until it is cleared', () => {
    const over = applyAll(live(), [update(start + 1, { audio_level: -1 }), update(start + 5_000, { audio_level: -9 })])
    expect(shown(over)?.clippedAt).toBe(start + 5_000)
    const cleared = apply(over, { type: 'overload_cleared', receiverId: 1, channelId: 11, at: start + 6_000 })
    expect(shown(cleared)?.clippedAt).toBe(null)
  })
})

describe('clocks', () => {
  it('computes the clock difference from a pong', () => {
    const timestamp = new Date(start + 90_000).toISOString()
    const watchState = apply(live(), { type: 'message', message: { type: 'pong', timestamp }, at: start })
    expect(watchState.clockAheadMs).toBe(90_000)
    expect(watchState.receivedAt).toBe(start)
  })
})

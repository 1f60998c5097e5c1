import { Errors } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { type LiveMessage, LiveServerMessage } from '../src/contract/live-messages.ts'
import type { ChannelBody, TransmitterBody } from '../src/contract/resources/channels.ts'
import type { DataBody } from '../src/contract/resources/data.ts'
import { apply, applyAll, initialState, type WatchEvent, type WatchState } from './state.ts'

const start = 1_000_000

function transmitter(reported: Partial<TransmitterBody> = {}): TransmitterBody {
  const known = { slot: 1, upstream_slot: null, name: 'H04 Maria', frequency: '540.000' }
  return { ...known, battery: 80, audio_level: -20, rf_level: -50, ...reported }
}

function channel(reported: Partial<TransmitterBody> | null = {}, id = 11): ChannelBody {
  const known = {
    id,
    channel: id - 10,
    slot: id,
    name: 'Vocal',
    frequency: '540.000',
    audio_level: null,
    rf_level: null,
    condition: {
      state: 'ok' as const,
      severity: 'ok' as const,
      attention: false,
      since: '2026-11-20T19:00:00.000Z',
      flags: [],
    },
  }
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

type Unnumbered<Message> = Message extends unknown ? Omit<Message, 'seq'> : never

/** Wraps a message in a WatchEvent; fails if the message does not match the contract. */
function message(at: number, content: Unnumbered<LiveMessage>): WatchEvent {
  const numbered = { seq: 1, ...content } as LiveMessage
  expect(Errors(LiveServerMessage, numbered)).toEqual([true, []])
  return { type: 'message', message: numbered, at }
}

function snapshot(at: number, body: DataBody): WatchEvent {
  const lists = { alerts: [], shows: [], sources: [], performers: [], silences: [], queue: { pending: 0 } }
  return message(at, { type: 'snapshot', epoch: 'a', data: { ...body, ...lists } })
}

function update(at: number, reported: Partial<TransmitterBody> | null): WatchEvent {
  return message(at, { type: 'channel', id: 11, receiver_id: 1, transmitter: reported && transmitter(reported) })
}

function levels(at: number, ...entry: (number | null)[]): WatchEvent {
  return message(at, { type: 'levels', at: new Date(at).toISOString(), values: [[11, ...entry]] })
}

const opened: WatchEvent = { type: 'connection', connection: 'open', at: start }
const lost = (at: number): WatchEvent => ({ type: 'connection', connection: 'lost', nextTryAt: at + 1_000, at })
const resumed = (at: number): WatchEvent => ({ type: 'message', message: { type: 'resumed', epoch: 'a', seq: 1 }, at })
const group = { id: 1, title: 'Band', slots: [1], hide_charts: false, manufacturer: null }

function live(...channels: ChannelBody[]): WatchState {
  const body = data(...(channels.length === 0 ? [channel()] : channels))
  return applyAll(initialState(start), [opened, snapshot(start, body)])
}

const shown = (watchState: WatchState) => watchState.receivers.get(1)?.channels[0]
const battery = (watchState: WatchState) => shown(watchState)?.transmitter?.battery

describe('connections', () => {
  it('are fresh after the snapshot, which replaces everything', () => {
    expect(apply(initialState(start), opened).isFresh).toBe(false)
    expect(live()).toMatchObject({ isFresh: true, phase: 'ready' })
    expect(apply(live(), snapshot(start + 5, { ...data(), receivers: [] })).receivers.size).toBe(0)
  })

  it('are stale when they are lost, and fresh after they resume', () => {
    const gap = applyAll(live(), [lost(start + 10), { ...opened, at: start + 20 }])
    expect(gap.isFresh).toBe(false)
    const whole = applyAll(gap, [resumed(start + 21), update(start + 22, { battery: 44 })])
    expect(whole.isFresh).toBe(true)
    expect(battery(whole)).toBe(44)
  })

  it('keep equal groups as the same object', () => {
    const before = apply(live(), { type: 'groups', groups: [group], at: start })
    expect(apply(before, snapshot(start + 1, { ...data(), groups: [{ ...group }] })).groups).toBe(before.groups)
  })

  it('poll the data while live updates are disabled', () => {
    const polling: WatchEvent = { type: 'connection', connection: 'polling', at: start + 10 }
    const polled: WatchEvent = { type: 'polled', data: data(channel({ battery: 44 })), at: start + 11 }
    const watchState = applyAll(live(), [lost(start + 9), polling, polled])
    expect(watchState.isFresh).toBe(true)
    expect(battery(watchState)).toBe(44)
    expect(applyAll(live(), [lost(start + 9), polled]).isFresh).toBe(false)
  })
})

describe('messages', () => {
  const details = { muted: true }

  it('receiver: changes the fields that it contains', () => {
    const watchState = apply(live(), message(start + 5, { type: 'receiver', id: 1, name: 'Rack B', is_active: false }))
    const expected = { name: 'Rack B', model: 'AD4Q', is_active: false, offlineSince: start + 5 }
    expect(watchState.receivers.get(1)).toMatchObject(expected)
    const online = apply(watchState, message(start + 6, { type: 'receiver', id: 1, is_active: true }))
    expect(online.receivers.get(1)?.offlineSince).toBe(null)
  })

  it('receiver_added and receiver_removed', () => {
    const [receiver] = data(channel({}, 12)).receivers
    if (receiver === undefined) throw new Error('no receiver')
    const added = apply(live(), message(start, { type: 'receiver_added', receiver: { ...receiver, id: 2 } }))
    expect(added.receivers.get(2)?.channels).toMatchObject([{ id: 12, offSince: null }])
    expect([...apply(added, message(start, { type: 'receiver_removed', id: 1 })).receivers.keys()]).toEqual([2])
  })

  it('channel: changes fields, replaces nested objects, and deletes details that are null', () => {
    const ids = { type: 'channel', id: 11, receiver_id: 1 } as const
    const muted = apply(live(), message(start, { ...ids, name: 'Solo', details }))
    expect(shown(muted)).toMatchObject({ name: 'Solo', details, slot: 11, transmitter: { battery: 80 } })
    expect(shown(apply(muted, message(start, { ...ids, details: null })))).not.toHaveProperty('details')
    expect(shown(apply(muted, update(start, null)))).toMatchObject({ details, transmitter: null })
  })

  it('channel: adds a new channel in the order of its number', () => {
    const { id, ...fields } = channel({}, 11)
    const watchState = apply(live(channel({}, 12)), message(start, { type: 'channel', id, receiver_id: 1, ...fields }))
    expect(watchState.receivers.get(1)?.channels.map((item) => item.id)).toEqual([11, 12])
  })

  it('channel_removed', () => {
    const watchState = apply(live(), message(start, { type: 'channel_removed', id: 11, receiver_id: 1 }))
    expect(watchState.receivers.get(1)?.channels).toEqual([])
  })

  it('slots: moves channels and their transmitters', () => {
    const before = live(channel({}, 11), channel({}, 12))
    const after = apply(
      before,
      message(start, {
        type: 'slots',
        values: [
          [11, 12],
          [12, 11],
        ],
      }),
    )
    expect(after.receivers.get(1)?.channels).toMatchObject([
      { id: 11, slot: 12, transmitter: { slot: 12 } },
      { id: 12, slot: 11, transmitter: { slot: 11 } },
    ])
  })

  it('groups, performers and assignments: replace the lists', () => {
    const performers = [{ id: 3, name: 'Anna', notes: '', picture: null }]
    const assignments = [{ channel_id: 11, wireless_unit: 1, performer: { id: 3, name: 'Anna' } }]
    const watchState = applyAll(live(), [
      message(start, { type: 'groups', groups: [group] }),
      message(start, { type: 'performers', performers }),
      message(start, { type: 'assignments', assignments }),
    ])
    expect(watchState).toMatchObject({ groups: [group], performers, assignments })
  })

  it('settings: changes only the settings that apply to the manufacturer filter of the page', () => {
    const settings = (manufacturer: string | null) =>
      message(start, { type: 'settings', manufacturer, group: null, config: { alert_battery_threshold: 30 } })
    const expected = { polling_interval: 10, alert_battery_threshold: 30, enable_websocket: true }
    expect(apply(live(), settings(null)).config).toEqual(expected)
    expect(apply(live(), settings('shure')).config.alert_battery_threshold).toBe(20)
    expect(apply(initialState(start, 'shure'), settings('shure')).config.alert_battery_threshold).toBe(30)
  })

  it('other types change nothing', () => {
    const before = live()
    const source = { code: 'shure', address: 'https://10.0.0.1', status: 'unhealthy', error: 'refused' }
    const others: WatchEvent[] = [
      message(start, { type: 'discovered', discovered: [] }),
      message(start, { type: 'queue', pending: 2 }),
      message(start, { type: 'source', ...source }),
      message(start, { type: 'status', message: 'Your sign-in ends soon.' }),
      message(start, { type: 'pong', timestamp: new Date(start).toISOString() }),
      message(start, { type: 'error', error: 'Not JSON.' }),
      message(start, { type: 'tick', at: new Date(start).toISOString() }),
      { type: 'message', message: { type: 'show', seq: 1, show: {} } as unknown as LiveMessage, at: start },
    ]
    expect(applyAll(before, others)).toBe(before)
  })

  it('about unknown receivers change nothing', () => {
    const before = live()
    expect(apply(before, message(start, { type: 'receiver', id: 9, name: 'x' }))).toBe(before)
    expect(apply(before, message(start, { type: 'channel_removed', id: 9, receiver_id: 9 }))).toBe(before)
    expect(
      apply(before, message(start, { type: 'levels', at: '2026-11-20T20:00:00Z', values: [[9, -90]] })).receivers,
    ).toBe(before.receivers)
  })

  it('do not modify the previous state', () => {
    const before = live()
    apply(before, update(start + 1, { battery: 1 }))
    expect(battery(before)).toBe(80)
  })
})

describe('levels', () => {
  it('do not change the state while they cross no limit', () => {
    const before = live()
    expect(applyAll(before, [levels(start + 1, -60, -30), levels(start + 2, -69, -2), levels(start + 3, -51)])).toBe(
      before,
    )
  })

  it('change it when RF becomes weak, and when it recovers', () => {
    const weak = apply(live(), levels(start + 1, -86, -20))
    expect(shown(weak)).toMatchObject({ weakAt: start + 1, fairAt: start + 1, transmitter: { rf_level: -86 } })
    expect(apply(weak, levels(start + 500, -90, -20))).toBe(weak)
    expect(shown(apply(weak, levels(start + 900, -50, -20)))).toMatchObject({
      weakAt: start + 900,
      fairAt: start + 900,
    })
  })

  it('do not change a channel without a transmitter', () => {
    const off = apply(live(), update(start + 1, null))
    expect(apply(off, levels(start + 2, -110))).toBe(off)
  })
})

describe('failures', () => {
  const problem = { kind: 'unreachable', detail: 'No response.' } as const

  it('fails before the first snapshot, and keeps the displayed state afterwards', () => {
    const failed: WatchEvent = { type: 'failed', problem, at: start }
    expect(apply(initialState(start), failed)).toMatchObject({ phase: 'failed', problem })
    expect(apply(live(), failed)).toMatchObject({ phase: 'ready', problem })
  })

  it('hides everything when the session has ended', () => {
    const failed: WatchEvent = { type: 'failed', problem: { ...problem, kind: 'sign_in' }, at: start }
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
    const gap = [lost(start + 3_000), opened]
    const off = data(channel(null))
    expect(shown(applyAll(live(), [...gap, snapshot(start + 60_000, off)]))?.offSince).toBe(start)
    const missed = [...gap, resumed(start + 60_000), update(start + 60_001, null)]
    expect(shown(applyAll(live(), missed))?.offSince).toBe(start)
    const later: WatchEvent[] = [...gap, resumed(start + 60_000), { type: 'tick', at: start + 61_000 }]
    expect(shown(applyAll(live(), [...later, update(start + 62_000, null)]))?.offSince).toBe(start + 62_000)
  })

  it('keeps the time of the last overload until it is cleared', () => {
    const over = applyAll(live(), [levels(start + 1, -50, -1), levels(start + 5_000, -50, -9)])
    expect(shown(over)?.clippedAt).toBe(start + 5_000)
    const cleared = apply(over, { type: 'overload_cleared', receiverId: 1, channelId: 11, at: start + 6_000 })
    expect(shown(cleared)?.clippedAt).toBe(null)
  })
})

describe('times', () => {
  it('computes the clock difference from a tick', () => {
    const at = new Date(start + 90_000).toISOString()
    expect(apply(live(), message(start, { type: 'tick', at })).clockAheadMs).toBe(90_000)
  })

  it('dates the values of receivers of a failing manufacturer to their latest levels', () => {
    const upstream = { code: 'shure', status: 'unhealthy', consecutive_failures: 3 }
    const health = { manufacturers: [upstream] } as unknown as NonNullable<WatchState['health']>
    const received: WatchEvent = { type: 'received', receivedAt: () => start + 900, at: start + 950 }
    const failing = applyAll(live(), [{ type: 'health', health, at: start + 10 }, received])
    expect(failing).toMatchObject({ receivedAt: start + 950 })
    expect(failing.receivers.get(1)?.receivedAt).toBe(start + 900)
  })
})

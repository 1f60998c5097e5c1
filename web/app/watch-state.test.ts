import { Errors } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import type { ChannelBody, TransmitterBody } from '../../src/contract/channels.ts'
import type { DataBody } from '../../src/contract/data.ts'
import { type LiveMessage, LiveServerMessage } from '../../src/contract/live-messages.ts'
import { defaultSettings } from '../../src/contract/settings.ts'
import { buildAlert, buildGroup, buildSlotRecord } from '../../test/support/builders.ts'
import { recordOf } from './slot-records.ts'
import { apply, applyAll, initialState, type WatchEvent, type WatchState } from './watch-state.ts'

const start = 1_000_000

function transmitter(reported: Partial<TransmitterBody> = {}): TransmitterBody {
  const known = { slot: 1, upstream_slot: null, name: 'H04 Maria', frequency: '540.000', forecast: null }
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
      since_known: true,
      flags: [],
    },
    not_now: null,
  }
  return { ...known, transmitter: reported === null ? null : transmitter(reported) }
}

function data(...channels: ChannelBody[]): DataBody {
  const receiver = { id: 1, name: 'Rack A', device_type: 'ad', ip: '10.0.0.5', model: 'AD4Q', manufacturer: 'shure' }
  return {
    receivers: [{ ...receiver, site: null, is_active: true, channels }],
    discovered: [],
    config: { ...defaultSettings, version: 0 },
    groups: [],
    assignments: [],
    placeholders: [],
    slot_records: [],
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
  const lists = {
    alerts: [],
    shows: [],
    sources: [],
    sites: [],
    performers: [],
    silences: [],
    queue: { pending: 0 },
    listeners: null,
  }
  return message(at, { type: 'snapshot', epoch: 'a', installation: '1', via: [], data: { ...body, ...lists } })
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
const group = buildGroup(1, { title: 'Band', slots: [1] })

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
    const before = apply(live(), { type: 'edited', edit: { type: 'create_group', group }, at: start })
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

it('applies own edits of slots and placeholders before their messages arrive', () => {
  const placeholder = { id: 4, slot: 5, name: 'Keys', kind: 'wired', frequency: null, note: '', version: 1 } as const
  const added = apply(live(), { type: 'edited', edit: { type: 'add_placeholder', placeholder }, at: start })
  expect(added.placeholders).toMatchObject([{ ...placeholder, condition: { state: 'unmonitored' } }])
  const [channelId = 0, slot = 0] = [...added.receivers.values()].flatMap(({ channels }) =>
    channels.flatMap(({ id, slot }) => [id, slot]),
  )
  const moves = [
    { kind: 'placeholder', id: 4, from: 5, to: slot },
    { kind: 'channel', id: channelId, from: slot, to: 5 },
  ] as const
  const moved = apply(added, { type: 'edited', edit: { type: 'move', moves, requested: 1 }, at: start })
  expect(moved.placeholders).toMatchObject([{ slot }])
  expect(moved.receivers.get(1)?.channels[0]).toMatchObject({ id: channelId, slot: 5 })
  const deleted = apply(moved, { type: 'edited', edit: { type: 'delete_placeholder', placeholder }, at: start })
  expect(deleted.placeholders).toEqual([])
})

describe('messages', () => {
  const details = { muted: true }

  it('receiver: changes the fields that it contains', () => {
    const watchState = apply(live(), message(start + 5, { type: 'receiver', id: 1, name: 'Rack B', is_active: false }))
    expect(watchState.receivers.get(1)).toMatchObject({ name: 'Rack B', model: 'AD4Q', is_active: false })
  })

  it('receiver_added and receiver_removed', () => {
    const [receiver] = data(channel({}, 12)).receivers
    if (receiver === undefined) throw new Error('no receiver')
    const added = apply(live(), message(start, { type: 'receiver_added', receiver: { ...receiver, id: 2 } }))
    expect(added.receivers.get(2)?.channels).toMatchObject([{ id: 12 }])
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

  it('groups and performers: replace the lists', () => {
    const performers = [{ id: 3, name: 'Anna', notes: '', picture: null, version: 1 }]
    const watchState = applyAll(live(), [
      message(start, { type: 'groups', groups: [group] }),
      message(start, { type: 'performers', performers }),
    ])
    expect(watchState).toMatchObject({ groups: [group], performers })
  })

  it('slot_records: changes and removes some', () => {
    const [first, second, third] = [buildSlotRecord(1), buildSlotRecord(2), buildSlotRecord(3)]
    const records = { ...data(), slot_records: [first, second, third] }
    const before = apply(initialState(start), snapshot(start, records))
    const changed = { ...second, title: 'Nora', title_from: 'performer' as const }
    const after = apply(before, message(start, { type: 'slot_records', slots: [changed], removed: [3] }))
    expect([...after.slotRecords.values()]).toEqual([first, changed])
    expect(recordOf(after.slotRecords, { kind: 'channel', id: 2 })).toBe(changed)
    expect(recordOf(after.slotRecords, { kind: 'channel', id: 3 })).toBeUndefined()
  })

  it('placeholders: are replaced by a snapshot and by a message', () => {
    const [placeholder, other] = ['Lectern', 'Click'].map((name, index) => ({
      ...{ id: index + 1, slot: 40 + index, name, kind: 'wired' as const, frequency: null, note: '', version: 1 },
      condition: { ...channel().condition, state: 'unmonitored' as const },
    }))
    if (placeholder === undefined || other === undefined) throw new Error('no placeholder')
    const loaded = apply(live(), snapshot(start, { ...data(), placeholders: [placeholder] }))
    expect(loaded.placeholders).toEqual([placeholder])
    const replaced = apply(loaded, message(start, { type: 'placeholders', placeholders: [other] }))
    expect(replaced.placeholders).toEqual([other])
  })

  it('silences: replace the list', () => {
    const times = { until: '2026-11-20T20:00:00.000Z', created_at: '2026-11-20T19:00:00.000Z' }
    const silences = [
      { id: 1, channels: [11], groups: [], kinds: [], reason: 'Sound check', by: 'ann', version: 1, ...times },
    ]
    expect(apply(live(), message(start, { type: 'silences', silences })).silences).toEqual(silences)
  })

  it('alert: adds, changes and removes an alert', () => {
    const alert = buildAlert({ channel_id: 11 })
    const raised = apply(live(), message(start, { type: 'alert', ...alert }))
    expect(raised.alerts).toEqual([alert])
    const critical = apply(raised, message(start, { type: 'alert', ...alert, severity: 'critical' }))
    expect(critical.alerts).toMatchObject([{ id: 4, severity: 'critical' }])
    const cleared = { ...alert, state: 'cleared' as const, cleared_at: '2026-11-20T19:01:00.000Z' }
    expect(apply(critical, message(start, { type: 'alert', ...cleared })).alerts).toEqual([])
  })

  it('source: adds, changes and removes a source', () => {
    const source = { code: 'shure', address: 'https://10.0.0.1', status: 'healthy', error: null, silent_since: null }
    const added = apply(live(), message(start, { type: 'source', ...source }))
    expect(added.sources).toEqual([source])
    const failing = { ...source, status: 'unhealthy', error: 'refused' }
    const changed = apply(added, message(start, { type: 'source', ...failing }))
    expect(changed.sources).toEqual([failing])
    expect(apply(changed, message(start, { type: 'source', ...failing, status: null })).sources).toEqual([])
  })

  it('show: adds and changes a running show, and removes it in any other state', () => {
    const times = { starts_at: null, ends_at: null, started_at: '2026-11-20T19:00:00.000Z', ended_at: null }
    const show = { id: 2, title: 'Matinee', state: 'running' as const, group_ids: [], notes: '', version: 1, ...times }
    const started = apply(live(), message(start, { type: 'show', show }))
    expect(started.shows).toEqual([show])
    const renamed = apply(started, message(start, { type: 'show', show: { ...show, title: 'Gala' } }))
    expect(renamed.shows).toMatchObject([{ id: 2, title: 'Gala' }])
    for (const state of ['planned', 'ended', 'deleted'] as const) {
      expect(apply(renamed, message(start, { type: 'show', show: { ...show, state } })).shows).toEqual([])
    }
  })

  it('queue: changes the number of devices that are waiting', () => {
    expect(apply(live(), message(start, { type: 'queue', pending: 2 })).pending).toBe(2)
  })

  it('settings: changes the global settings', () => {
    const settings = (manufacturer: string | null) =>
      message(start, { type: 'settings', manufacturer, group: null, config: { alert_battery_threshold: 30 } })
    const expected = { ...defaultSettings, alert_battery_threshold: 30, version: 0 }
    expect(apply(live(), settings(null)).config).toEqual(expected)
    expect(apply(live(), settings('shure')).config.alert_battery_threshold).toBe(20)
  })

  it('other types change nothing', () => {
    const before = live()
    const others: WatchEvent[] = [
      message(start, { type: 'discovered', discovered: [] }),
      message(start, { type: 'status', message: 'Your sign-in ends soon.' }),
      message(start, { type: 'pong', timestamp: new Date(start).toISOString() }),
      message(start, { type: 'error', error: 'Not JSON.' }),
      message(start, { type: 'tick', at: new Date(start).toISOString() }),
      { type: 'message', message: { type: 'something_new', seq: 1, value: {} } as unknown as LiveMessage, at: start },
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
  it('do not change the state', () => {
    const before = live()
    expect(applyAll(before, [levels(start + 1, -60, -30), levels(start + 2, -110, 0)])).toBe(before)
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

describe('events', () => {
  const event = {
    ...{ id: 5, time: '2026-11-20T19:00:00.000Z', until: null, kind: 'marker' as const, severity: 'info' as const },
    ...{ channel_id: 11, receiver_id: 1, manufacturer: 'shure', text: 'Act 2', data: {}, site: null, by: 'Ada' },
  }

  it('keeps the latest changes in their order', () => {
    const changed = { ...event, text: 'Act 3' }
    const after = applyAll(live(), [
      message(start, { type: 'event', event }),
      message(start, { type: 'event_changed', event: changed }),
      message(start, { type: 'event_deleted', id: 5 }),
    ])
    expect(after.eventChanges).toEqual([
      { id: 5, event },
      { id: 5, event: changed },
      { id: 5, event: null },
    ])
  })

  it('forgets the oldest changes', () => {
    const messages = Array.from({ length: 1_200 }, (_, id) => message(start, { type: 'event_deleted', id }))
    const { eventChanges } = applyAll(live(), messages)
    expect([eventChanges.length, eventChanges[0]?.id, eventChanges.at(-1)?.id]).toEqual([1_000, 200, 1_199])
  })
})

import { describe, expect, it } from 'vitest'
import { noSources } from '../src/domain/equipment/health.ts'
import { allStaleSince, byUrgency, type ChannelFacts, describeChannel, splitName } from './channel-state.ts'
import { initialState, type WatchedChannel, type WatchedReceiver, type WatchState } from './state.ts'

const now = Date.parse('2026-11-20T20:00:00Z')

type ReceiverOptions = Partial<NonNullable<WatchedChannel['transmitter']>>

const wrongKey: Partial<WatchedChannel> = { details: { encryption: 'error' } }

function watchState(over: Partial<WatchState> = {}): WatchState {
  return { ...initialState(now), phase: 'ready', connection: 'open', isFresh: true, receivedAt: now, ...over }
}

function channel(reported: ReceiverOptions | null, over: Partial<WatchedChannel> = {}): WatchedChannel {
  const levels = { battery: 80, audio_level: -20, rf_level: -50 }
  const transmitter = { slot: 7, upstream_slot: null, name: 'H04 Maria', frequency: '540.000', ...levels, ...reported }
  const memory = { offSince: null, lastBattery: null, lastName: null, clippedAt: null, weakAt: null, fairAt: null }
  return {
    ...{ id: 1, channel: 2, slot: 7, name: null, frequency: null, audio_level: null, rf_level: null },
    transmitter: reported === null ? null : transmitter,
    condition: { state: 'ok', severity: 'ok', attention: false, since: '', flags: [] },
    ...memory,
    ...over,
  }
}

function receiver(over: Partial<WatchedReceiver> = {}): WatchedReceiver {
  const hardware = { id: 1, name: 'Rack A', device_type: 'ad', ip: '10.0.0.5', model: 'AD4Q', manufacturer: 'shure' }
  return { ...hardware, is_active: true, offlineSince: null, channels: [], receivedAt: now - 60_000, ...over }
}

function facts(
  reported: ReceiverOptions | null,
  over: Partial<WatchedChannel> = {},
  of = watchState(),
  at = receiver(),
): ChannelFacts {
  return describeChannel(of, at, channel(reported, over))
}

describe('state of a channel', () => {
  const table: [string, ReceiverOptions | null, Partial<WatchedChannel>, Partial<ChannelFacts>][] = [
    ['all well', {}, {}, { state: 'good', flags: [], needsAttention: false }],
    ['just over half', { battery: 51 }, {}, { state: 'good' }],
    ['half', { battery: 50 }, {}, { state: 'replace', needsAttention: false }],
    ['just over the threshold', { battery: 21 }, {}, { state: 'replace' }],
    ['at the threshold', { battery: 20 }, {}, { state: 'low', needsAttention: true }],
    ['at ten', { battery: 10 }, {}, { state: 'critical', needsAttention: true }],
    ['empty', { battery: 0 }, {}, { state: 'critical', battery: 0 }],
    ['battery unknown', { battery: null }, {}, { state: 'on', battery: null, needsAttention: false }],
    ['RF fair', { rf_level: -71 }, {}, { state: 'good', flags: ['rf_fair'], needsAttention: false }],
    ['RF at the limit of good', { rf_level: -70 }, {}, { state: 'good', flags: [] }],
    ['RF at the limit of fair', { rf_level: -85 }, {}, { state: 'good', flags: ['rf_fair'] }],
    ['RF fair a moment ago', {}, { fairAt: now - 2_900 }, { state: 'good', flags: ['rf_fair'] }],
    ['RF fair and over', {}, { fairAt: now - 3_000 }, { state: 'good', flags: [] }],
    ['RF weak', { rf_level: -86 }, {}, { state: 'rf_weak', needsAttention: true }],
    ['RF weak a moment ago', {}, { weakAt: now - 2_900 }, { state: 'rf_weak' }],
    ['RF weak and over', {}, { weakAt: now - 3_000 }, { state: 'good' }],
    ['RF unknown', { rf_level: null }, {}, { state: 'good', flags: [] }],
    ['clipping', { audio_level: -1 }, {}, { state: 'clipping', needsAttention: true }],
    [
      'the receiver muted',
      {},
      { details: { muted: true } },
      { state: 'good', flags: ['muted'], needsAttention: false },
    ],
    ['the transmitter muted', { details: { muted: true } }, { details: { muted: false } }, { flags: ['muted'] }],
    [
      'the wrong key',
      {},
      { details: { encryption: 'error', interference: true } },
      { state: 'key_error', flags: ['interference'], needsAttention: true },
    ],
    ['the wrong key, a low battery', { battery: 15 }, wrongKey, { state: 'key_error', flags: ['low'] }],
    ['the wrong key, a dying battery', { battery: 5 }, wrongKey, { state: 'critical', flags: ['key_error'] }],
    ['the wrong key, half a battery', { battery: 40 }, wrongKey, { state: 'key_error', flags: ['replace'] }],
    ['the wrong key, the transmitter gone', null, wrongKey, { state: 'off', flags: [], needsAttention: false }],
    ['a key, and no interference', {}, { details: { encryption: 'on', interference: false } }, { flags: [] }],
    ['not quite clipping', { audio_level: -2 }, {}, { state: 'good' }],
    ['clipped 9 s ago', {}, { clippedAt: now - 9_000 }, { state: 'clipping', overloadAt: now - 9_000 }],
    ['clipped 10 s ago', {}, { clippedAt: now - 10_000 }, { state: 'good', overloadAt: now - 10_000 }],
    ['a peak on a dying battery', { battery: 5, audio_level: 0 }, {}, { state: 'critical', flags: ['clipping'] }],
    ['weak RF, half a battery', { battery: 40, rf_level: -90 }, {}, { state: 'rf_weak', flags: ['replace'] }],
    ['never there', null, {}, { state: 'off', flags: [], since: null, needsAttention: false, isLive: false }],
    [
      'just switched off',
      null,
      { offSince: now - 1_000, lastBattery: 70 },
      { state: 'off_recently', battery: 70, isBatteryOld: true, since: now - 1_000, needsAttention: false },
    ],
    [
      'gone with an empty battery',
      null,
      { offSince: now - 1_000, lastBattery: 9 },
      { state: 'off_recently', flags: ['critical'], needsAttention: true },
    ],
    [
      'long gone: the warning stays',
      null,
      { offSince: now - 31 * 60_000, lastBattery: 9 },
      { state: 'off', flags: ['critical'], needsAttention: false },
    ],
  ]
  it.each(table)('%s', (_, reported, over, expected) => {
    expect(facts(reported, over)).toMatchObject(expected)
  })

  it('uses the battery threshold from the settings', () => {
    const config = { polling_interval: 10, alert_battery_threshold: 40, enable_websocket: true }
    expect(facts({ battery: 35 }, {}, watchState({ config })).state).toBe('low')
  })
})

describe('stale values', () => {
  const failing = (consecutive_failures: number, status: 'degraded' | 'unhealthy' = 'degraded') =>
    watchState({
      health: {
        status: 'degraded',
        vendor_api: { status, base_url: '', consecutive_failures },
        manufacturers: [{ ...noSources, code: 'shure', status, base_url: '', consecutive_failures }],
        details: [],
        store: { status: 'healthy', details: null },
        timestamp: '',
        version: '',
      },
    })

  it('marks an offline receiver with the time at which it went offline', () => {
    const offline = receiver({ is_active: false, offlineSince: now - 60_000 })
    const lost = facts({ battery: 5 }, {}, watchState(), offline)
    expect(lost).toMatchObject({ state: 'receiver_lost', flags: ['critical'], isLive: false, needsAttention: true })
    expect(lost.since).toBe(now - 60_000)
  })

  it('marks all channels as stale when the connection is lost, and keeps their flags', () => {
    const old = watchState({ isFresh: false, receivedAt: now - 4_000 })
    expect(facts({ battery: 5 }, {}, old)).toMatchObject({ state: 'stale', flags: ['critical'], since: now - 4_000 })
    expect(facts({}, {}, old, receiver({ is_active: false }))).toMatchObject({ flags: ['receiver_lost'] })
  })

  it('marks all channels as stale after silence on an open connection', () => {
    expect(allStaleSince(watchState({ receivedAt: now - 1_999 }))).toBe(null)
    expect(allStaleSince(watchState({ receivedAt: now - 2_000 }))).toBe(now - 2_000)
    expect(allStaleSince(watchState({ connection: 'polling', receivedAt: now - 15_000 }))).toBe(null)
  })

  it('marks the channels of a failing manufacturer as stale', () => {
    expect(facts({}, {}, failing(3, 'unhealthy'))).toMatchObject({ state: 'stale', since: now - 60_000 })
    expect(facts({}, {}, failing(1)).state).toBe('stale')
    expect(facts({}, {}, failing(0)).state).toBe('good')
  })

  it('keeps a receiver live while it sends updates', () => {
    expect(facts({}, {}, failing(1), receiver({ receivedAt: now - 1_000 })).state).toBe('good')
  })
})

describe('problems first', () => {
  it('sorts by urgency, then by slot', () => {
    const cards = [
      facts({}, { slot: 1 }),
      facts({ battery: 40 }, { slot: 2 }),
      facts({ battery: 5 }, { slot: 4 }),
      facts({ battery: 5 }, { slot: 3 }),
      facts(null, { slot: 5, offSince: now, lastBattery: 15 }),
      facts({}, { slot: 6, ...wrongKey }),
      facts({}, { slot: 7 }, watchState(), receiver({ is_active: false })),
    ]
    expect(cards.sort(byUrgency).map((card) => card.slot)).toEqual([3, 4, 7, 6, 5, 2, 1])
  })

  it('keeps the order when the connection is lost', () => {
    const old = watchState({ isFresh: false })
    const order = (of: WatchState) =>
      [facts({ battery: 40 }, { slot: 2 }, of), facts({}, { slot: 1 }, of), facts(null, { slot: 3 }, of)]
        .sort(byUrgency)
        .map((card) => card.slot)
    expect(order(old)).toEqual(order(watchState()))
  })
})

describe('names', () => {
  it.each([
    ['H04 Maria Callas', 'H04', 'Maria Callas'],
    ['HH12_Tom', 'HH12', 'Tom'],
    ['Maria', null, 'Maria'],
    ['H04', null, 'H04'],
    ['Choir 2 left', null, 'Choir 2 left'],
    ['', null, null],
    ['  ', null, null],
  ])('%j', (text, token, name) => {
    expect(splitName(text)).toEqual({ token, name })
  })

  it('contain no bidirectional formatting marks', () => {
    expect(facts({ name: 'a\u202Eb\u0007\n<b>' }).name).toBe('ab<b>')
  })

  it('fall back to the last transmitter name, then to the channel name', () => {
    expect(facts(null, { lastName: 'Tom', name: 'Vocal 1' }).name).toBe('Tom')
    expect(facts(null, { name: 'Vocal 1' }).name).toBe('Vocal 1')
  })
})

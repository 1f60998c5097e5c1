import { describe, expect, it } from 'vitest'
import { noSources } from '../src/model/health.ts'
import { byUrgency, type ChannelFacts, describeChannel, houseStaleSince, splitName } from './channel-state.ts'
import { emptyHouse, type House, type WatchedChannel, type WatchedReceiver } from './state.ts'

const now = Date.parse('2026-11-20T20:00:00Z')

type Told = Partial<NonNullable<WatchedChannel['transmitter']>>

const wrongKey: Partial<WatchedChannel> = { details: { encryption: 'error' } }

function house(over: Partial<House> = {}): House {
  return { ...emptyHouse(now), phase: 'ready', client: 'open', isFresh: true, heardAt: now, ...over }
}

function channel(told: Told | null, over: Partial<WatchedChannel> = {}): WatchedChannel {
  const levels = { battery: 80, audio_level: -20, rf_level: -50 }
  const transmitter = { slot: 7, upstream_slot: null, name: 'H04 Maria', frequency: '540.000', ...levels, ...told }
  const memory = { leftAt: null, lastBattery: null, lastName: null, clippedAt: null, weakAt: null, fairAt: null }
  return {
    ...{ id: 1, channel: 2, slot: 7, name: null, frequency: null, audio_level: null, rf_level: null },
    transmitter: told === null ? null : transmitter,
    ...memory,
    ...over,
  }
}

function receiver(over: Partial<WatchedReceiver> = {}): WatchedReceiver {
  const hardware = { id: 1, name: 'Rack A', device_type: 'ad', ip: '10.0.0.5', model: 'AD4Q', manufacturer: 'shure' }
  const last_seen = new Date(now - 60_000).toISOString()
  return { ...hardware, is_active: true, last_seen, channels: [], heardAt: now - 60_000, ...over }
}

function facts(told: Told | null, over: Partial<WatchedChannel> = {}, of = house(), at = receiver()): ChannelFacts {
  return describeChannel(of, at, channel(told, over))
}

describe('the state of a channel', () => {
  const table: [string, Told | null, Partial<WatchedChannel>, Partial<ChannelFacts>][] = [
    ['all well', {}, {}, { state: 'good', marks: [], needsHand: false }],
    ['just over half', { battery: 51 }, {}, { state: 'good' }],
    ['half', { battery: 50 }, {}, { state: 'replace', needsHand: false }],
    ['just over the threshold', { battery: 21 }, {}, { state: 'replace' }],
    ['at the threshold', { battery: 20 }, {}, { state: 'low', needsHand: true }],
    ['at ten', { battery: 10 }, {}, { state: 'critical', needsHand: true }],
    ['empty', { battery: 0 }, {}, { state: 'critical', battery: 0 }],
    ['battery unknown', { battery: null }, {}, { state: 'on', battery: null, needsHand: false }],
    ['RF fair', { rf_level: -71 }, {}, { state: 'good', marks: ['rf_fair'], needsHand: false }],
    ['RF at the limit of good', { rf_level: -70 }, {}, { state: 'good', marks: [] }],
    ['RF at the limit of fair', { rf_level: -85 }, {}, { state: 'good', marks: ['rf_fair'] }],
    ['RF fair a moment ago', {}, { fairAt: now - 2_900 }, { state: 'good', marks: ['rf_fair'] }],
    ['RF fair and over', {}, { fairAt: now - 3_000 }, { state: 'good', marks: [] }],
    ['RF weak', { rf_level: -86 }, {}, { state: 'rf_weak', needsHand: true }],
    ['RF weak a moment ago', {}, { weakAt: now - 2_900 }, { state: 'rf_weak' }],
    ['RF weak and over', {}, { weakAt: now - 3_000 }, { state: 'good' }],
    ['RF unknown', { rf_level: null }, {}, { state: 'good', marks: [] }],
    ['clipping', { audio_level: -1 }, {}, { state: 'clipping', needsHand: true }],
    ['the receiver muted', {}, { details: { muted: true } }, { state: 'good', marks: ['muted'], needsHand: false }],
    ['the transmitter muted', { details: { muted: true } }, { details: { muted: false } }, { marks: ['muted'] }],
    [
      'the wrong key',
      {},
      { details: { encryption: 'error', interference: true } },
      { state: 'key_error', marks: ['interference'], needsHand: true },
    ],
    ['the wrong key, a low battery', { battery: 15 }, wrongKey, { state: 'key_error', marks: ['low'] }],
    ['the wrong key, a dying battery', { battery: 5 }, wrongKey, { state: 'critical', marks: ['key_error'] }],
    ['the wrong key, half a battery', { battery: 40 }, wrongKey, { state: 'key_error', marks: ['replace'] }],
    ['the wrong key, the transmitter gone', null, wrongKey, { state: 'off', marks: [], needsHand: false }],
    ['a key, and no interference', {}, { details: { encryption: 'on', interference: false } }, { marks: [] }],
    ['not quite clipping', { audio_level: -2 }, {}, { state: 'good' }],
    ['clipped 9 s ago', {}, { clippedAt: now - 9_000 }, { state: 'clipping', overloadAt: now - 9_000 }],
    ['clipped 10 s ago', {}, { clippedAt: now - 10_000 }, { state: 'good', overloadAt: now - 10_000 }],
    ['a peak on a dying battery', { battery: 5, audio_level: 0 }, {}, { state: 'critical', marks: ['clipping'] }],
    ['weak RF, half a battery', { battery: 40, rf_level: -90 }, {}, { state: 'rf_weak', marks: ['replace'] }],
    ['never there', null, {}, { state: 'off', marks: [], since: null, needsHand: false, isLive: false }],
    [
      'just switched off',
      null,
      { leftAt: now - 1_000, lastBattery: 70 },
      { state: 'off_recently', battery: 70, isBatteryOld: true, since: now - 1_000, needsHand: false },
    ],
    [
      'gone with an empty battery',
      null,
      { leftAt: now - 1_000, lastBattery: 9 },
      { state: 'off_recently', marks: ['critical'], needsHand: true },
    ],
    [
      'long gone: the warning stays',
      null,
      { leftAt: now - 31 * 60_000, lastBattery: 9 },
      { state: 'off', marks: ['critical'], needsHand: false },
    ],
  ]
  it.each(table)('%s', (_, told, over, expected) => {
    expect(facts(told, over)).toMatchObject(expected)
  })

  it('takes the threshold from the settings', () => {
    const config = { polling_interval: 10, alert_battery_threshold: 40, enable_websocket: true }
    expect(facts({ battery: 35 }, {}, house({ config })).state).toBe('low')
  })
})

describe('values that are not live', () => {
  const failing = (consecutive_failures: number, status: 'degraded' | 'unhealthy' = 'degraded') =>
    house({
      health: {
        status: 'degraded',
        vendor_api: { status, base_url: '', consecutive_failures },
        manufacturers: [{ ...noSources, code: 'shure', status, base_url: '', consecutive_failures }],
        details: [],
        store: { status: 'healthy', details: null },
        timestamp: '',
      },
    })

  it('says so of a receiver that does not answer, since it was last seen', () => {
    const lost = facts({ battery: 5 }, {}, house(), receiver({ is_active: false }))
    expect(lost).toMatchObject({ state: 'receiver_lost', marks: ['critical'], isLive: false, needsHand: true })
    expect(lost.since).toBe(now - 60_000)
  })

  it('counts on the clock of this browser', () => {
    const ahead = house({ clockAheadMs: 5_000 })
    expect(facts({}, {}, ahead, receiver({ is_active: false })).since).toBe(now - 65_000)
  })

  it('says so of all channels when the link is lost, and keeps what was wrong', () => {
    const old = house({ isFresh: false, heardAt: now - 4_000 })
    expect(facts({ battery: 5 }, {}, old)).toMatchObject({ state: 'stale', marks: ['critical'], since: now - 4_000 })
    expect(facts({}, {}, old, receiver({ is_active: false }))).toMatchObject({ marks: ['receiver_lost'] })
  })

  it('says so after silence, whatever the link believes', () => {
    expect(houseStaleSince(house({ heardAt: now - 3_500 }))).toBe(null)
    expect(houseStaleSince(house({ heardAt: now - 3_501 }))).toBe(now - 3_501)
    expect(houseStaleSince(house({ client: 'reading', heardAt: now - 15_000 }))).toBe(null)
  })

  it('says so of a manufacturer that fails', () => {
    expect(facts({}, {}, failing(3, 'unhealthy'))).toMatchObject({ state: 'stale', since: now - 60_000 })
    expect(facts({}, {}, failing(1)).state).toBe('stale')
    expect(facts({}, {}, failing(0)).state).toBe('good')
  })

  it('does not say so of a receiver that still speaks', () => {
    expect(facts({}, {}, failing(1), receiver({ heardAt: now - 1_000 })).state).toBe('good')
  })
})

describe('problems first', () => {
  it('puts the loudest first, then by slot', () => {
    const cards = [
      facts({}, { slot: 1 }),
      facts({ battery: 40 }, { slot: 2 }),
      facts({ battery: 5 }, { slot: 4 }),
      facts({ battery: 5 }, { slot: 3 }),
      facts(null, { slot: 5, leftAt: now, lastBattery: 15 }),
      facts({}, { slot: 6, ...wrongKey }),
      facts({}, { slot: 7 }, house(), receiver({ is_active: false })),
    ]
    expect(cards.sort(byUrgency).map((card) => card.slot)).toEqual([3, 4, 7, 6, 5, 2, 1])
  })

  it('keeps the order when the link is lost', () => {
    const old = house({ isFresh: false })
    const order = (of: House) =>
      [facts({ battery: 40 }, { slot: 2 }, of), facts({}, { slot: 1 }, of), facts(null, { slot: 3 }, of)]
        .sort(byUrgency)
        .map((card) => card.slot)
    expect(order(old)).toEqual(order(house()))
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

  it('cannot disguise themselves', () => {
    expect(facts({ name: 'a\u202Eb\u0007\n<b>' }).name).toBe('ab<b>')
  })

  it('fall back to the last one heard, then to the channel', () => {
    expect(facts(null, { lastName: 'Tom', name: 'Vocal 1' }).name).toBe('Tom')
    expect(facts(null, { name: 'Vocal 1' }).name).toBe('Vocal 1')
  })
})

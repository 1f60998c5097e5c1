import { describe, expect, it } from 'vitest'
import type { ChannelBody } from '../../src/contract/channels.ts'
import type { ReceiverInData } from '../../src/contract/receivers.ts'
import type { SlotRecord } from '../../src/contract/slots.ts'
import { buildSlotRecord } from '../../test/support/builders.ts'
import { allStaleSince, bySeverity, type ChannelFacts, describeChannel, splitName } from './channel-state.ts'
import { initialState, type WatchState } from './watch-state.ts'

const now = Date.parse('2026-11-20T20:00:00Z')
const since = '2026-11-20T19:50:00.000Z'

type Condition = ChannelBody['condition']

const ok: Condition = { state: 'ok', severity: 'ok', attention: false, since, since_known: true, flags: [] }
const critical: Condition = { ...ok, state: 'battery_critical', severity: 'critical', attention: true }
const low: Condition = { ...ok, state: 'battery_low', severity: 'warning', attention: true }
const off: Condition = { ...ok, state: 'tx_off', severity: 'info' }

function watchState(over: Partial<WatchState> = {}): WatchState {
  return { ...initialState(now), phase: 'ready', connection: 'open', isFresh: true, receivedAt: now, ...over }
}

function channel(condition: Condition, over: Partial<ChannelBody> = {}): ChannelBody {
  return {
    ...{ id: 1, channel: 2, slot: 7, name: null, frequency: null, audio_level: null, rf_level: null },
    transmitter: {
      ...{ slot: 7, upstream_slot: null, name: 'H04 Maria', frequency: '540.000' },
      ...{ battery: 80, forecast: null, audio_level: -20, rf_level: -50 },
    },
    condition,
    not_now: null,
    ...over,
  }
}

function receiver(over: Partial<ReceiverInData> = {}): ReceiverInData {
  const hardware = { id: 1, name: 'Rack A', device_type: 'ad', ip: '10.0.0.5', model: 'AD4Q', manufacturer: 'shure' }
  return { ...hardware, site: null, is_active: true, channels: [], ...over }
}

function withRecords(...records: readonly SlotRecord[]): WatchState {
  return watchState({ slotRecords: new Map(records.map((record) => [record.slot, record])) })
}

function facts(
  condition: Condition,
  over: Partial<ChannelBody> = {},
  of = watchState(),
  at = receiver(),
): ChannelFacts {
  return describeChannel(of, at, channel(condition, over))
}

describe('describeChannel', () => {
  it('shows the condition of the service', () => {
    expect(facts({ ...critical, flags: ['rf_weak'] })).toMatchObject({
      state: 'battery_critical',
      flags: ['rf_weak'],
      needsAttention: true,
      batteryLevel: 'critical',
      rfTone: 'weak',
      isLive: true,
      since: null,
    })
  })

  it('marks the packs of an intercom', () => {
    const station = receiver({ device_type: 'clearcom', model: 'NEP-ARCADIA', manufacturer: 'clearcom' })
    const without = { frequency: null, rf_level: null, audio_level: null }
    const factsOf = (over: Partial<ChannelBody>) => facts(critical, { ...without, ...over }, watchState(), station)
    expect(factsOf({})).toMatchObject({ isBeltpack: true, hasLevels: false })
    expect(factsOf({ rf_level: -60 })).toMatchObject({ isBeltpack: true, hasLevels: true })
    expect(facts(critical, without)).toMatchObject({ isBeltpack: false, hasLevels: true })
  })

  it('shows one flag about the battery at most', () => {
    expect(facts({ ...critical, flags: ['battery_low', 'battery_replace_soon', 'muted'] }).flags).toEqual(['muted'])
    const weak: Condition = { ...low, state: 'rf_weak', flags: ['battery_low', 'battery_replace_soon'] }
    expect(facts(weak)).toMatchObject({ flags: ['battery_low'], batteryLevel: 'low' })
  })

  it('shows the last battery and name of a transmitter that is off, and since when', () => {
    const last_transmitter = { name: 'H04 Maria', battery: 6, minutes_left: null, last_seen: since }
    const died: Condition = { ...critical, state: 'battery_died' }
    expect(facts(died, { transmitter: null, last_transmitter })).toMatchObject({
      ...{ state: 'battery_died', name: 'Maria', battery: 6, batteryLevel: 'critical' },
      ...{ isBatteryOld: true, isLive: false, since: { at: Date.parse(since), isKnown: true } },
    })
  })

  it('does not make what is old younger when the page loses its data', () => {
    const lost = watchState({ isFresh: false, receivedAt: Date.parse(since) + 60_000 })
    expect(facts(off, { transmitter: null }, lost).since).toEqual({ at: Date.parse(since), isKnown: true })
  })

  it('does not give an age to a state whose beginning was not seen', () => {
    const last_transmitter = { name: null, battery: 6, minutes_left: null, last_seen: '2026-11-20T18:00:00.000Z' }
    const unknown = facts({ ...off, since_known: false }, { transmitter: null, last_transmitter })
    expect(unknown.since).toEqual({ at: Date.parse(since), isKnown: false })
  })

  // Conformance: C-22.32.
  it('counts the age of stale values from the time of the values', () => {
    const values_at = '2026-11-20T18:30:00.000Z'
    const stale: Condition = { ...ok, state: 'stale', values_at }
    expect(facts(stale).since).toEqual({ at: Date.parse(values_at), isKnown: true })
    const hidden: Condition = { ...critical, flags: ['stale'], values_at }
    expect(facts(hidden).since).toEqual({ at: Date.parse(values_at), isKnown: true })
    const last_transmitter = { name: null, battery: 6, minutes_left: null, last_seen: '2026-11-20T18:00:00.000Z' }
    expect(facts(stale, { transmitter: null, last_transmitter }).since?.at).toBe(Date.parse(last_transmitter.last_seen))
  })

  it('shows old values of an offline receiver', () => {
    const condition: Condition = { ...critical, state: 'receiver_offline' }
    const shown = facts(condition, {}, watchState(), receiver({ is_active: false }))
    expect(shown).toMatchObject({ isLive: false, isBatteryOld: true, since: { at: Date.parse(since), isKnown: true } })
  })
})

describe('stale values', () => {
  it('marks all channels as stale when the connection is lost, and keeps their states as flags', () => {
    const old = watchState({ isFresh: false, receivedAt: now - 4_000 })
    expect(facts({ ...critical, flags: ['muted'] }, {}, old)).toMatchObject({
      ...{
        state: 'stale',
        flags: ['battery_critical', 'muted'],
        since: { at: now - 4_000, isKnown: true },
        isLive: false,
      },
    })
    expect(facts(ok, {}, old)).toMatchObject({ state: 'stale', flags: [], needsAttention: false })
  })

  it('marks all channels as stale after silence on an open connection', () => {
    expect(allStaleSince(watchState({ receivedAt: now - 1_999 }))).toBe(null)
    expect(allStaleSince(watchState({ receivedAt: now - 2_000 }))).toBe(now - 2_000)
    expect(allStaleSince(watchState({ connection: 'polling', receivedAt: now - 15_000 }))).toBe(null)
  })
})

describe('problems first', () => {
  const listSlots = (of: WatchState) =>
    [
      facts(ok, { slot: 1 }, of),
      facts({ ...off, since: '2026-11-20T19:00:00.000Z' }, { slot: 2 }, of),
      facts({ ...critical, since: '2026-11-20T19:59:00.000Z' }, { slot: 3 }, of),
      facts(critical, { slot: 5 }, of),
      facts(critical, { slot: 4 }, of),
      facts(low, { slot: 6 }, of),
      facts({ ...ok, since: '2026-11-20T19:00:00.000Z' }, { slot: 7 }, of),
    ]
      .sort(bySeverity)
      .map((card) => card.slot)

  it('sorts by severity, then by time, then by slot', () => {
    expect(listSlots(watchState())).toEqual([4, 5, 3, 6, 2, 1, 7])
  })

  it('keeps the order when the connection is lost', () => {
    expect(listSlots(watchState({ isFresh: false }))).toEqual(listSlots(watchState()))
  })
})

describe('names', () => {
  it.each([
    ['H04 Maria Callas', 'H04', 'Maria Callas'],
    ['HH12_Tom', 'HH12', 'Tom'],
    ['Maria', null, 'Maria'],
    ['H04', null, 'H04'],
    ['Choir 2 left', null, 'Choir 2 left'],
  ])('%j', (text, token, name) => {
    expect(splitName(text)).toEqual({ token, name })
  })

  it('contain no bidirectional formatting marks', () => {
    const transmitter = channel(ok).transmitter
    const named = transmitter && { ...transmitter, name: 'a\u202Eb\u0007\n<b>' }
    expect(facts(ok, { transmitter: named }).name).toBe('ab<b>')
  })

  it('are those of the equipment until the record of the slot arrives', () => {
    const last_transmitter = { name: 'Tom', battery: null, minutes_left: null, last_seen: since }
    const named = { transmitter: null, last_transmitter, name: 'Vocal 1' }
    expect(facts(off, named)).toMatchObject({ title: 'Vocal 1', ownName: 'Tom', performer: null, color: null })
    expect(facts(off, { ...named, name: null })).toMatchObject({ title: 'Tom', ownName: null })
    expect(facts(off, { transmitter: null }).title).toBe('Rack A 2')
  })

  // Conformance: C-21.22.
  it('are those of the record, wherever the channel is, with the pack as the second name', () => {
    const record = buildSlotRecord(3, {
      ...{ channel_id: 1, title: 'H04 Nora', title_from: 'performer', color: 'red', role: 'Glinda' },
    })
    expect(facts(ok, {}, withRecords(record))).toMatchObject({
      ...{ slot: 7, title: 'H04 Nora', token: null, name: 'H04 Nora', ownName: 'H04 Maria', performer: 'H04 Nora' },
      ...{ color: 'red', role: 'Glinda' },
    })
    const reported = buildSlotRecord(1, { title: 'H04 Maria', title_from: 'transmitter' })
    expect(facts(ok, {}, withRecords(reported))).toMatchObject({ token: 'H04', name: 'Maria', ownName: null })
  })

  it.each([
    ['data:image/png;base64,AAAA', true],
    ['/api/pictures/0f343b09', true],
    ['//elsewhere.example/anna.png', false],
    ['https://elsewhere.example/anna.png', false],
    ['data:text/html,<script>', false],
  ])('have a picture from %s: %s', (picture, isShown) => {
    const record = buildSlotRecord(1, {
      ...{ title: 'Anna', title_from: 'performer', performer: { id: 3, name: 'Anna', picture } },
    })
    expect(facts(ok, {}, withRecords(record)).picture).toBe(isShown ? picture : null)
  })
})

import { describe, expect, it } from 'vitest'
import type { ChannelBody } from '../../src/contract/channels.ts'
import { condition, receiver } from '../../test/support/browser/fake-service.ts'
import { eventAt } from '../../test/support/browser/recorded-story.ts'
import { type ChannelAtOptions, channelAt, type StepAt } from './channel-at.ts'

const recordedAt = Date.parse('2026-05-01T20:00:00Z')
const [on] = receiver(1, [{ battery: 90 }]).channels as [ChannelBody]
const [off] = receiver(1, [null]).channels as [ChannelBody]

function at(seconds: number, options: Partial<ChannelAtOptions> = {}): ChannelBody {
  const defaults = { channel: on, recordedAt, step: null, events: [], hasMuteAttention: false }
  return channelAt({ ...defaults, at: recordedAt + seconds * 1_000, ...options })
}

const step = (letter: StepAt['letter'], seconds = 5, values: Partial<StepAt> = {}): StepAt => ({
  ...{ letter, since: recordedAt + seconds * 1_000, battery: null, minutes: null },
  ...values,
})

const event = (seconds: number, ...rest: Parameters<typeof eventAt> extends [number, ...infer Rest] ? Rest : never) =>
  eventAt(recordedAt + seconds * 1_000, ...rest)

const iso = (seconds: number) => new Date(recordedAt + seconds * 1_000).toISOString()

it('returns the same record while nothing says otherwise', () => {
  expect(at(9)).toBe(on)
  expect(at(9, { step: step('1', -60, { battery: 90 }) })).toBe(on)
  const dead = { ...off, condition: condition('battery_died', 'tx_off') }
  expect(at(9, { channel: dead, step: step('0', -60) })).toBe(dead)
})

// Conformance: C-12.94.
describe('a recorded step', () => {
  it('turns the transmitter off, and remembers it', () => {
    const weak = { ...on, condition: condition('rf_weak', 'battery_low') }
    const { transmitter, condition: after, last_transmitter } = at(9, { channel: weak, step: step('0') })
    expect(transmitter).toBeNull()
    expect(after).toEqual({
      state: 'tx_off',
      severity: 'info',
      attention: false,
      since: iso(5),
      since_known: true,
      flags: [],
    })
    expect(last_transmitter).toEqual({ name: 'H01 Singer 1', battery: 90, minutes_left: null, last_seen: iso(5) })
  })

  it('turns the transmitter on, with the recorded battery', () => {
    const { transmitter, condition: after } = at(9, { channel: off, step: step('1', 5, { battery: 71, minutes: 95 }) })
    expect(transmitter).toMatchObject({ battery: 71, details: { battery_minutes: 95 } })
    expect(after).toMatchObject({ state: 'ok', since: iso(5) })
  })

  it('mutes and unmutes', () => {
    const muted = at(9, { step: step('m') })
    expect(muted.condition).toMatchObject({ state: 'muted', attention: false, since: iso(5) })
    expect(at(9, { step: step('m'), hasMuteAttention: true }).condition.attention).toBe(true)
    expect(at(12, { channel: muted, step: step('1', 11) }).condition.state).toBe('ok')
  })

  it('shows an offline receiver as worse if the channel was in use', () => {
    const lost = at(9, { step: step('x') }).condition
    expect(lost).toMatchObject({ state: 'receiver_offline', severity: 'critical', attention: true, since: iso(5) })
    expect(at(9, { channel: off, step: step('x') }).condition).toMatchObject({ severity: 'warning', attention: false })
  })

  it('marks the values as not current where nothing is recorded', () => {
    const weak = { ...on, condition: condition('rf_weak') }
    expect(at(9, { channel: weak, step: step('-') }).condition).toMatchObject({ state: 'stale', flags: [] })
  })
})

// Conformance: C-12.94.
describe('an event', () => {
  it('holds a row while it lasts', () => {
    const events = [event(3, 'interference', { until: iso(6) })]
    expect(at(4, { events }).condition).toMatchObject({ state: 'interference', attention: true, since: iso(3) })
    expect(at(6, { events }).condition).toMatchObject({ state: 'ok', since: iso(6) })
    expect(at(60, { events: [event(3, 'battery_low', { data: { open: true } })] }).condition.state).toBe('battery_low')
  })

  it('ends a row that was true in the record', () => {
    const channel = { ...on, condition: condition('interference') }
    const events = [event(-5, 'interference', { until: iso(6) })]
    expect(at(4, { channel, events })).toBe(channel)
    expect(at(7, { channel, events }).condition.state).toBe('ok')
  })

  // Conformance: C-12.109.
  it('of a dropout makes RF weak after a second, and for three seconds after it', () => {
    const events = [event(3, 'rf_dropout', { until: iso(6) })]
    const states = [3, 4, 8, 9].map((seconds) => at(seconds, { events }).condition.state)
    expect(states).toEqual(['ok', 'rf_weak', 'rf_weak', 'ok'])
    expect(at(5, { events }).condition).toMatchObject({ attention: true, since: iso(4) })
    expect(at(5, { events: [event(3, 'rf_dropout', { until: iso(3.8) })] }).condition.state).toBe('ok')
    expect(at(60, { events: [event(3, 'rf_dropout', { data: { open: true } })] }).condition.state).toBe('rf_weak')
  })

  it('holds the row of an alert until it is cleared', () => {
    const events = [event(3, 'alert_raised', { data: { kind: 'no_audio' } })]
    expect(at(4, { events }).condition.state).toBe('no_audio')
    expect(
      at(9, { events: [...events, event(8, 'alert_cleared', { data: { kind: 'no_audio' } })] }).condition.state,
    ).toBe('ok')
  })

  it('renames the transmitter and changes the frequency', () => {
    const events = [
      event(3, 'renamed', { data: { from: 'H01 Singer 1', to: 'H01 Nora' } }),
      event(4, 'frequency_changed', { data: { from: '540.000', to: '541.000' } }),
    ]
    expect(at(5, { events }).transmitter).toMatchObject({ name: 'H01 Nora', frequency: '541.000' })
  })
})

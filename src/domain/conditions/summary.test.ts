import { describe, expect, test } from 'vitest'
import type { Condition, ConditionState } from './condition.ts'
import { summarizeConditions } from './summary.ts'

function condition(state: ConditionState, attention = false): Condition {
  return { state, severity: 'ok', attention, since: 0, flags: [] }
}

const ok = { condition: condition('ok'), hasTransmitter: true, battery: 90, replaceSoon: 50 }
const off = { condition: condition('tx_off'), hasTransmitter: false, battery: null, replaceSoon: 50 }
const lost = { ...ok, condition: condition('receiver_offline', true) }
const weak = { ...ok, condition: condition('rf_weak', true) }
const online = { id: 1, isActive: true, failingSource: null, channels: [ok] }
const offline = { id: 2, isActive: false, failingSource: null, channels: [lost, lost, lost, lost] }

function summarize(receivers: Parameters<typeof summarizeConditions>[0]['receivers'], placeholders = 0) {
  return summarizeConditions({ receivers, placeholders, sources: [] })
}

describe('summarizeConditions', () => {
  test('counts channels, transmitters, receivers and states', () => {
    const summary = summarizeConditions({
      receivers: [{ ...online, channels: [ok, off, weak] }, offline],
      placeholders: 3,
      sources: ['healthy', 'failing', 'unknown', 'healthy'],
    })
    expect(summary).toMatchObject({
      channels: 7,
      transmitters_on: 2,
      attention: 5,
      problems: 2,
      receivers: { online: 1, offline: 1 },
      sources: { healthy: 2, failing: 1 },
    })
    expect(summary.states).toMatchObject({
      ok: 1,
      tx_off: 1,
      rf_weak: 1,
      receiver_offline: 4,
      unmonitored: 3,
      stale: 0,
    })
  })

  test('counts placeholders only as unmonitored', () => {
    const { channels, attention, states } = summarize([], 2)
    expect([channels, attention, states.unmonitored, states.ok]).toEqual([0, 0, 2, 0])
  })

  test('counts every channel of an online receiver that needs attention', () => {
    expect(summarize([{ ...online, channels: [weak, weak, ok] }])).toMatchObject({ attention: 2, problems: 2 })
  })

  test('counts the channels of one offline receiver as one problem', () => {
    expect(summarize([offline, { ...offline, id: 3 }])).toMatchObject({ attention: 8, problems: 2 })
  })

  test('counts no problem for an offline receiver that was not in use', () => {
    const unused = { ...off, condition: condition('receiver_offline') }
    expect(summarize([{ ...offline, channels: [unused] }]).problems).toBe(0)
  })

  test('counts all channels of one failing source as one problem', () => {
    const failing = { ...offline, failingSource: 'a:1' }
    const stale = { ...online, failingSource: 'a:1', channels: [{ ...ok, condition: condition('stale', true) }] }
    const other = { ...offline, failingSource: 'b:1' }
    expect(summarize([failing, stale, other, { ...online, channels: [weak] }]).problems).toBe(3)
    expect(summarize([{ ...online, failingSource: 'a:1' }]).problems).toBe(0)
  })

  test('counts batteries at or under the bound on channels with a transmitter', () => {
    const channels = [
      { ...ok, battery: 50 },
      { ...ok, battery: 51 },
      { ...ok, battery: 55, replaceSoon: 60 },
      { ...ok, battery: null },
      { ...off, battery: 10 },
    ]
    expect(summarize([{ ...online, channels }]).replace_soon).toBe(2)
  })
})

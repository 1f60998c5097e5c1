import { describe, expect, test } from 'vitest'
import type { Conflict } from '../frequencies/conflict.ts'
import type { LiveCarrier } from '../frequencies/live-carriers.ts'
import type { Condition, ConditionState } from './condition.ts'
import { countConflicts, findFailingSource, summarizeConditions } from './summary.ts'

function condition(state: ConditionState, attention = false): Condition {
  return { state, severity: 'ok', attention, since: 0, since_known: true, flags: [] }
}

const ok = { condition: condition('ok'), hasTransmitter: true, isReplaceSoon: false, isHandled: false }
const off = { condition: condition('tx_off'), hasTransmitter: false, isReplaceSoon: false, isHandled: false }
const lost = { ...ok, condition: condition('receiver_offline', true) }
const weak = { ...ok, condition: condition('rf_weak', true) }
const online = { isActive: true, failingSource: null, channels: [ok] }
const offline = { isActive: false, failingSource: null, channels: [lost, lost, lost, lost] }

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

  test('counts handled channels', () => {
    const channels = [{ ...weak, isHandled: true }, weak, ok]
    expect(summarize([{ ...online, channels }])).toMatchObject({ attention: 2, problems: 2, handled: 1 })
  })

  test('counts placeholders only as unmonitored', () => {
    const { channels, attention, states } = summarize([], 2)
    expect([channels, attention, states.unmonitored, states.ok]).toEqual([0, 0, 2, 0])
  })

  test('counts every channel of an online receiver that needs attention', () => {
    expect(summarize([{ ...online, channels: [weak, weak, ok] }])).toMatchObject({ attention: 2, problems: 2 })
  })

  test('counts the channels of one offline receiver as one problem', () => {
    expect(summarize([offline, { ...offline }])).toMatchObject({ attention: 8, problems: 2 })
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

  test('counts batteries that must be replaced soon', () => {
    const channels = [{ ...ok, isReplaceSoon: true }, ok, off]
    expect(summarize([{ ...online, channels }]).replace_soon).toBe(1)
  })
})

describe('findFailingSource', () => {
  const sources = { count: 2, failing: new Set(['system']) }

  test('attributes an offline receiver to any failing source that reports it', () => {
    expect(findFailingSource(false, ['system'], sources)).toBe('system')
    expect(findFailingSource(false, ['device', 'system'], sources)).toBe('system')
    expect(findFailingSource(false, ['device'], sources)).toBeNull()
  })

  test('attributes an online receiver only if all sources that report it fail', () => {
    expect(findFailingSource(true, ['device', 'system'], sources)).toBeNull()
    expect(findFailingSource(true, ['system'], sources)).toBe('system')
  })

  test('attributes a receiver of unknown sources only if all sources of its manufacturer fail', () => {
    expect(findFailingSource(false, [], sources)).toBeNull()
    expect(findFailingSource(false, [], { ...sources, count: 1 })).toBe('system')
    expect(findFailingSource(false, [], { count: 0, failing: new Set() })).toBeNull()
  })
})

test('countConflicts counts those of included victims, and as critical those that disturb now', () => {
  const carrier = (id: string, isOn: boolean) => ({ id, isOn }) as LiveCarrier
  const conflict = (victim: string, kind: Conflict['kind'], ...generators: string[]) =>
    ({ victim, kind, generators }) as unknown as Conflict
  const carriers = [carrier('c1', true), carrier('c2', true), carrier('c3', false)]
  const result = {
    conflicts: [
      conflict('c2', 'duplicate', 'c1'),
      conflict('c3', 'spacing', 'c1'),
      conflict('c3', 'foreign'),
      conflict('c2', '2t3o', 'c1', 'c3'),
    ],
    // One conflict of c2 is not listed.
    victims: { c2: 3, c3: 2 },
  }
  expect(countConflicts(carriers, result, () => true)).toEqual({ critical: 2, other: 3 })
  expect(countConflicts(carriers, result, ({ id }) => id === 'c2')).toEqual({ critical: 1, other: 2 })
})

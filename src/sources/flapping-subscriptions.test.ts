import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FlappingSubscriptions } from './flapping-subscriptions.ts'

const source = 'shure:http://x'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function losesAfter(subscriptions: FlappingSubscriptions, connectedMs: number): boolean {
  subscriptions.record(source, 'trying')
  subscriptions.record(source, 'opened')
  vi.advanceTimersByTime(connectedMs)
  subscriptions.record(source, 'lost')
  return subscriptions.has(source)
}

// Conformance: C-22.4.
// Reliability: R12.
test('a subscription flaps from its third loss within two minutes', () => {
  const subscriptions = new FlappingSubscriptions()
  expect([20_000, 20_000, 20_000].map((ms) => losesAfter(subscriptions, ms))).toEqual([false, false, true])
})

test('a subscription that is lost every 61 s does not flap', () => {
  const subscriptions = new FlappingSubscriptions()
  expect([61_000, 61_000, 61_000].map((ms) => losesAfter(subscriptions, ms))).toEqual([false, false, false])
})

// Conformance: C-22.4.
// Reliability: R12.
test('a flapping subscription is stable after a minute without a loss, and only then', () => {
  const onStable = vi.fn()
  const subscriptions = new FlappingSubscriptions()
  subscriptions.stable.subscribe(onStable)
  for (const ms of [1_000, 1_000, 1_000, 59_000]) losesAfter(subscriptions, ms)
  expect(subscriptions.has(source)).toBe(true)
  subscriptions.record(source, 'opened')
  // The start of another receiver's connection reports it again.
  vi.advanceTimersByTime(30_000)
  subscriptions.record(source, 'opened')
  vi.advanceTimersByTime(29_999)
  expect([subscriptions.has(source), onStable.mock.calls]).toEqual([true, []])
  vi.advanceTimersByTime(1)
  expect([subscriptions.has(source), onStable.mock.calls]).toEqual([false, [[source]]])
  expect(losesAfter(subscriptions, 1_000)).toBe(false)
})

test('a subscription that no process holds is forgotten', () => {
  const subscriptions = new FlappingSubscriptions()
  for (const ms of [1_000, 1_000, 1_000]) losesAfter(subscriptions, ms)
  subscriptions.record(source, 'ended')
  expect(subscriptions.has(source)).toBe(false)
})

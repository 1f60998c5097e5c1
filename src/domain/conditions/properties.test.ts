import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ConditionFlag, type ConditionState, conditionTable } from './condition.ts'
import { hour, minute, TestChannel } from './test-channel.ts'

type Happening = (channel: TestChannel) => void

const levelsArbitrary = fc.constantFrom(-110, -95, -86, -80, -72, -60, -30)
const durationArbitrary = fc.oneof(
  fc.integer({ min: 1, max: 4000 }),
  fc.constantFrom(1000, 2000, 5000, 10_000, 30_000, minute),
  fc.constantFrom(10 * minute, 12 * hour, 7 * 24 * hour),
)

const transmitterArbitrary = fc.option(
  fc.record(
    {
      name: fc.constantFrom('Nora', 'Paul', null),
      battery: fc.constantFrom(null, 5, 10, 12, 15, 18, 22, 25, 40, 53, 55, 90),
      rf_level: levelsArbitrary,
      audio_level: fc.constantFrom(null, -90, -61, -60, -20, 0),
      details: fc.record({ battery_minutes: fc.constantFrom(null, 10, 18, 47, 200), muted: fc.boolean() }),
    },
    { requiredKeys: [] },
  ),
)

const detailsArbitrary = fc.record(
  {
    interference: fc.boolean(),
    overload: fc.boolean(),
    encryption: fc.constantFrom('on', 'error', null),
    antennas: fc.constantFrom('A', 'AB', '', null),
    rf_a: levelsArbitrary,
    rf_b: levelsArbitrary,
    quality: fc.constantFrom(5, 50, null),
  },
  { requiredKeys: [] },
)

const happeningArbitrary: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({ transmitter: transmitterArbitrary, details: detailsArbitrary, rf_level: levelsArbitrary })
      .map((report) => (channel: TestChannel) => void channel.report(report)),
  },
  { weight: 1, arbitrary: fc.constant<Happening>((channel) => void channel.receiveKeepAlive()) },
  { weight: 1, arbitrary: fc.boolean().map(setActive) },
  { weight: 1, arbitrary: fc.subarray([1, 2]).map(setShows) },
  {
    weight: 1,
    arbitrary: fc
      .record({ alert_battery_threshold: fc.constantFrom(8, 20, 60), NO_AUDIO_MINUTES: fc.constantFrom(0, 1, 5) })
      .map((thresholds) => (channel: TestChannel) => void channel.set(thresholds)),
  },
  { weight: 1, arbitrary: durationArbitrary.map((ms) => (channel: TestChannel) => void channel.restart(ms)) },
)

function setActive(isActive: boolean): Happening {
  return (channel) => {
    channel.isActive = isActive
  }
}

function setShows(shows: readonly number[]): Happening {
  return (channel) => {
    channel.shows = shows
  }
}

/** An event, followed by time without events. */
const historyArbitrary = fc.array(fc.record({ happen: happeningArbitrary, waitMs: durationArbitrary }), {
  minLength: 1,
  maxLength: 12,
})

/** Advances the clock, and evaluates the condition whenever it is due and also every `extraMs`. */
function run(channel: TestChannel, durationMs: number, extraMs = Number.POSITIVE_INFINITY): void {
  const end = channel.now + durationMs
  let { dueAt } = channel.evaluate()
  for (;;) {
    const next = Math.min(dueAt ?? Number.POSITIVE_INFINITY, channel.now + extraMs)
    if (next >= end) break
    channel.wait(next - channel.now)
    dueAt = channel.evaluate().dueAt
  }
  channel.wait(end - channel.now)
}

test('the condition does not depend on how often it is evaluated in between', () => {
  fc.assert(
    fc.property(historyArbitrary, fc.integer({ min: 2, max: 9 }), (history, parts) => {
      const whenDue = new TestChannel()
      const often = new TestChannel()
      for (const { happen, waitMs } of history) {
        for (const channel of [whenDue, often]) happen(channel)
        expect(often.evaluate()).toEqual(whenDue.evaluate())
        run(whenDue, waitMs)
        run(often, waitMs, waitMs / parts)
        expect(often.evaluate()).toEqual(whenDue.evaluate())
      }
    }),
  )
})

test('the result does not change before it is due', () => {
  fc.assert(
    fc.property(historyArbitrary, fc.double({ min: 0, max: 0.999, noNaN: true }), (history, fraction) => {
      const channel = new TestChannel()
      for (const { happen, waitMs } of history) {
        happen(channel)
        run(channel, waitMs)
        const { condition, lastTransmitter, memory, dueAt } = channel.evaluate()
        expect(dueAt ?? Number.POSITIVE_INFINITY).toBeGreaterThan(channel.now)
        // Whole milliseconds, because fractions of times of day are rounded.
        channel.wait(Math.floor(((dueAt ?? channel.now + 1000 * hour) - channel.now) * fraction))
        const later = channel.evaluate()
        expect(later.condition).toBe(condition)
        expect(later.memory).toBe(memory)
        expect(later.lastTransmitter).toEqual(lastTransmitter)
      }
    }),
  )
})

test('flags are in table order, without the state and ok, and none of them but stale precedes the state', () => {
  const order: readonly (ConditionState | ConditionFlag)[] = [...conditionTable.map(({ state }) => state), 'rf_fair']
  fc.assert(
    fc.property(historyArbitrary, (history) => {
      const channel = new TestChannel()
      for (const { happen, waitMs } of history) {
        happen(channel)
        run(channel, waitMs)
        const { condition } = channel.evaluate()
        const positions = condition.flags.map((flag) => order.indexOf(flag))
        expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
        expect(condition.flags).not.toContain(condition.state)
        expect(condition.flags).not.toContain('ok')
        const row = conditionTable.find(({ state }) => state === condition.state)
        if (condition.state !== 'receiver_offline') expect(condition.severity).toBe(row?.severity)
        const hiding = condition.flags.filter((flag) => order.indexOf(flag) < order.indexOf(condition.state))
        expect(condition.state === 'ok' || hiding.every((flag) => flag === 'stale')).toBe(true)
      }
    }),
  )
})

test('since moves with the state, and with nothing else', () => {
  fc.assert(
    fc.property(historyArbitrary, (history) => {
      const channel = new TestChannel()
      for (const { happen } of history) {
        const before = channel.condition
        channel.wait(1)
        happen(channel)
        const after = channel.condition
        expect(after.since === before.since).toBe(after.state === before.state)
      }
    }),
  )
})

test('the memory survives storage as JSON', () => {
  fc.assert(
    fc.property(historyArbitrary, (history) => {
      const channel = new TestChannel()
      for (const { happen, waitMs } of history) {
        happen(channel)
        run(channel, waitMs)
        const { memory } = channel.evaluate()
        expect(JSON.parse(JSON.stringify(memory))).toEqual(memory)
      }
    }),
  )
})

test('a restart that takes no time changes no condition of a channel that is received', () => {
  fc.assert(
    fc.property(historyArbitrary, (history) => {
      const channel = new TestChannel()
      for (const { happen, waitMs } of history) {
        happen(channel)
        run(channel, waitMs)
      }
      const before = channel.condition
      expect(channel.restart(0).condition).toEqual(before)
    }),
  )
})

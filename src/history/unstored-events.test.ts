import { describe, expect, test } from 'vitest'
import { aboutAll, draftEvent, type EventDraft } from '../domain/events/event.ts'
import { type Operation, UnstoredEvents } from './unstored-events.ts'

const data = { name: 'Mic 1' } as EventDraft['data']
const muted = (time: number) => draftEvent('muted', aboutAll, { time, data })
const switchedOff = (channel_id: number) =>
  draftEvent('transmitter_off', { ...aboutAll, receiver_id: 1, channel_id }, { time: 1, data })
const summary = (operations: readonly Operation[]) =>
  operations.map((operation) => (operation.type === 'close' ? `close ${operation.subject}` : operation.event.time))

test('what waits is taken in the order in which it was added, once', () => {
  const events = new UnstoredEvents(10)
  events.add(muted(1))
  events.close('range', muted(2))
  events.add(muted(3))
  expect(summary(events.take(10))).toEqual([1, 'close range', 3])
  expect(events.take(10)).toEqual([])
})

test('the oldest are taken first, and the others wait', () => {
  const events = new UnstoredEvents(10)
  for (const time of [1, 2, 3]) events.add(muted(time))
  expect(events.size).toBe(3)
  expect(summary(events.take(2))).toEqual([1, 2])
  expect(events.size).toBe(1)
  events.failed()
  expect(summary(events.take(2))).toEqual([1, 2])
  events.stored()
  expect(summary(events.take(2))).toEqual([3])
})

test('an event is replaced only while it waits, and keeps its place', () => {
  const events = new UnstoredEvents(10)
  const [first, second] = [muted(1), muted(2)]
  events.add(first)
  events.add(muted(3))
  expect(events.replace(first, second)).toBe(true)
  expect(events.replace(first, muted(4))).toBe(false)
  expect(events.replace(second, muted(5))).toBe(true)
  expect(summary(events.take(10))).toEqual([5, 3])
  expect(events.replace(second, muted(6))).toBe(false)
})

describe('a range', () => {
  test('is closing until its end is stored', () => {
    const events = new UnstoredEvents(10)
    events.close('range', muted(1))
    expect([events.isClosing('range'), events.isClosing('other')]).toEqual([true, false])
    events.take(10)
    expect(events.isClosing('range')).toBe(true)
    events.close('range', muted(2))
    events.stored()
    expect(events.isClosing('range')).toBe(true)
    events.take(10)
    events.stored()
    expect(events.isClosing('range')).toBe(false)
  })

  test('is still closing after its end could not be stored', () => {
    const events = new UnstoredEvents(10)
    events.close('range', muted(1))
    events.take(10)
    events.failed()
    expect(events.isClosing('range')).toBe(true)
    events.take(10)
    events.stored()
    expect(events.isClosing('range')).toBe(false)
  })
})

test('what could not be stored waits again, before what was added in the meantime', () => {
  const events = new UnstoredEvents(10)
  const first = muted(1)
  events.add(first)
  events.take(10)
  events.add(muted(2))
  events.failed()
  expect(events.replace(first, muted(3))).toBe(true)
  expect(summary(events.take(10))).toEqual([3, 2])
})

test('only the switch-off of the given channel is removed, and only while it waits', () => {
  const events = new UnstoredEvents(10)
  for (const channel of [1, 2]) events.add(switchedOff(channel))
  expect([events.removeSwitchOff(2), events.removeSwitchOff(2), events.removeSwitchOff(3)]).toEqual([
    true,
    false,
    false,
  ])
  expect(events.take(10)).toMatchObject([{ event: { channel_id: 1 } }])
  expect(events.removeSwitchOff(1)).toBe(false)
})

test('the oldest beyond the limit are discarded and counted', () => {
  const events = new UnstoredEvents(2)
  events.close('range', muted(1))
  events.add(switchedOff(7))
  for (const time of [3, 4]) events.add(muted(time))
  expect([events.isClosing('range'), events.removeSwitchOff(7)]).toEqual([false, false])
  expect(summary(events.take(10))).toEqual([3, 4])
  expect([events.stored(), events.stored()]).toEqual([2, 0])
})

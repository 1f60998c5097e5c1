import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { LiveMessage } from '../../src/contract/live-messages.ts'
import { defaultSettings } from '../../src/contract/settings.ts'
import { receiver } from '../../test/support/browser/fake-service.ts'
import { Watch } from './watch.ts'

beforeEach(() => {
  vi.useFakeTimers()
  // The watch of a hidden page does not wait for frames.
  vi.stubGlobal('document', { hidden: true })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function startWatch() {
  const watch = new Watch(Date.now())
  const dispatch = (event: object) => watch.dispatch({ ...event, at: Date.now() } as never)
  const send = (message: object) => dispatch({ type: 'message', message: { seq: 1, ...message } as LiveMessage })
  const lists = { groups: [], placeholders: [], slot_records: [], queue: { pending: 0 } }
  dispatch({ type: 'connection', connection: 'open' })
  send({
    type: 'snapshot',
    epoch: 'a',
    data: { ...lists, receivers: [receiver(1, [{}, {}])], config: defaultSettings },
  })
  /** A second passes, at whose end a message arrives. */
  const passSecond = () => {
    vi.advanceTimersByTime(1000)
    send({ type: 'tick', at: new Date().toISOString() })
    dispatch({ type: 'tick' })
    vi.advanceTimersByTime(250)
  }
  passSecond()
  return { watch, send, passSecond }
}

it('returns the same cards until one of them changes, and then once per second', () => {
  const { watch, send, passSecond } = startWatch()
  const cards = watch.cards()
  expect(cards).toHaveLength(2)
  passSecond()
  expect(watch.cards()).toBe(cards)
  const [first, second] = watch.get().receivers.get(1)?.channels ?? []
  send({ type: 'channel', id: first?.id, receiver_id: 1, name: 'Other', transmitter: null })
  vi.advanceTimersByTime(250)
  expect(watch.cards()).toBe(cards)
  passSecond()
  expect(watch.cards().map(({ name }) => name)).toEqual(['Other', cards[1]?.name])
  expect(watch.cards()[1]).toBe(cards[1])
  expect(second).toBe(watch.get().receivers.get(1)?.channels[1])
})

it('returns other cards when all values become stale', () => {
  const { watch } = startWatch()
  vi.advanceTimersByTime(2500)
  watch.dispatch({ type: 'tick', at: Date.now() })
  vi.advanceTimersByTime(250)
  expect(watch.cards().map(({ state }) => state)).toEqual(['stale', 'stale'])
})

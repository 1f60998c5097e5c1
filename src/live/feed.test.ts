import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { BroadcastMessage, DeviceUpdate } from '../model/messages.ts'
import { createFeed, type Feed, filterBatch } from './feed.ts'

function update(receiver_id: number, data: object, manufacturer = 'shure'): DeviceUpdate {
  return { type: 'device_update', manufacturer, receiver_id, data: { channels: [], ...data } }
}

/** Everything a listener gets from now on. */
function listen(feed: Feed, manufacturer?: string): { heard: BroadcastMessage[]; stop(): void } {
  const stop = new AbortController()
  const heard: BroadcastMessage[] = []
  const listening = async () => {
    for await (const { messages } of feed.subscribe({ manufacturer, signal: stop.signal })) heard.push(...messages)
  }
  void listening()
  return { heard, stop: () => stop.abort() }
}

describe('the feed', () => {
  let feed: Feed
  beforeEach(() => {
    vi.useFakeTimers()
    feed = createFeed()
  })
  afterEach(() => {
    feed.close()
    vi.useRealTimers()
  })
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

  test('tells of a receiver at most ten times a second, at once the first time, and of its last state always', async () => {
    const { heard } = listen(feed)
    for (let n = 0; n < 50; n += 1) {
      feed.publish(update(1, { name: `n${n}` }))
      await pass(20)
    }
    await pass(200)
    expect(heard.length).toBeGreaterThanOrEqual(10)
    expect(heard.length).toBeLessThanOrEqual(12)
    expect(heard[0]).toMatchObject({ data: { name: 'n0' } })
    expect(heard.at(-1)).toMatchObject({ data: { name: 'n49' } })
  })

  test('what waits keeps what the earlier message told', async () => {
    const { heard } = listen(feed)
    feed.publish(update(1, { name: 'a' }))
    await pass(0)
    for (const data of [{ ip: '10.0.0.2' }, { name: 'b' }]) feed.publish(update(1, data))
    await pass(150)
    expect(heard.map((one) => (one as DeviceUpdate).data)).toEqual([
      { channels: [], name: 'a' },
      { channels: [], ip: '10.0.0.2', name: 'b' },
    ])
  })

  test('what is told of a receiver in one turn is one message', async () => {
    const { heard } = listen(feed)
    for (const data of [{ name: 'a' }, { ip: '10.0.0.2' }, { name: 'b' }]) feed.publish(update(1, data))
    await pass(150)
    expect(heard).toEqual([update(1, { name: 'b', ip: '10.0.0.2' })])
  })

  test('one receiver does not hold up another', async () => {
    const { heard } = listen(feed)
    feed.publish(update(1, {}))
    feed.publish(update(2, {}))
    await pass(1)
    expect(heard).toHaveLength(2)
  })

  test('a listener hears its manufacturer and what concerns all', async () => {
    const { heard } = listen(feed, 'shure')
    feed.publish(update(1, {}, 'sennheiser'))
    feed.publish(update(2, {}, 'shure'))
    feed.publish({ type: 'status_update', about: 'upstream', manufacturer: null, message: 'x', status: 'healthy' })
    await pass(1)
    expect(heard.map((one) => one.type).sort()).toEqual(['device_update', 'status_update'])
  })

  // Conformance: C-7.14.
  test('a listener that falls behind gets the newest of each receiver, and every event', async () => {
    const stop = new AbortController()
    const reader = feed.subscribe({ signal: stop.signal })[Symbol.asyncIterator]()
    for (let n = 0; n < 20; n += 1) {
      feed.publish(update(1, { name: `n${n}` }))
      feed.publish(update(2, { ip: `10.0.0.${n}` }))
      await pass(100)
    }
    feed.publish({ type: 'status_update', about: 'upstream', manufacturer: 'shure', message: 'x', status: 'degraded' })
    await pass(200)
    const { value: first } = await reader.next()
    expect(first.messages).toMatchObject([
      { type: 'status_update' },
      { receiver_id: 1, data: { name: 'n19' } },
      { receiver_id: 2, data: { ip: '10.0.0.19' } },
    ])
    stop.abort()
    expect((await reader.next()).done).toBe(true)
  })

  test('what comes together goes out together, and is the same for all who keep up', async () => {
    const stop = new AbortController()
    const [a, b] = [feed.subscribe({ signal: stop.signal }), feed.subscribe({ signal: stop.signal })]
    const own = feed.subscribe({ manufacturer: 'sennheiser', signal: stop.signal })
    feed.publish(update(1, { name: 'a' }))
    feed.publish(update(2, { name: 'b' }, 'sennheiser'))
    await pass(0)
    const nexts = [a, b, own].map((one) => one[Symbol.asyncIterator]().next())
    const [first, second, third] = (await Promise.all(nexts)).map(({ value }) => value)
    expect(first.messages).toHaveLength(2)
    expect(first).toBe(second)
    expect(third.messages).toMatchObject([{ receiver_id: 2 }])
    expect(feed.subscribers).toBe(3)
    stop.abort()
    expect(feed.subscribers).toBe(0)
  })

  test('of a batch only what is wanted is kept', async () => {
    const stop = new AbortController()
    const reader = feed.subscribe({ signal: stop.signal })[Symbol.asyncIterator]()
    feed.publish(update(1, {}))
    feed.publish(update(2, {}, 'sennheiser'))
    await pass(0)
    const { value: batch } = await reader.next()
    expect(filterBatch(batch, () => true)).toBe(batch)
    expect(filterBatch(batch, (one) => one === 'shure').messages).toMatchObject([{ receiver_id: 1 }])
    stop.abort()
  })

  test('however late the turns come, no second holds more than ten of a receiver, and the last state arrives', async () => {
    const step = fc.record({
      receiver: fc.constantFrom(1, 1, 1, 2),
      // Now and then the event loop does something else before what was published goes out.
      lateMs: fc.oneof(
        { weight: 40, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.constantFrom(7, 40, 140) },
      ),
      /** Or whether the next is published in the same turn. */
      endsTurn: fc.constantFrom(true, true, true, false),
      afterMs: fc.nat(40),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 300, maxLength: 320 }), async (steps) => {
        let lateMs = 0
        // The feed's own clock, by which what is heard is timed too: it stands still until the listener has heard.
        const now = () => performance.now() + lateMs
        const hasty = createFeed(now)
        const told = new Map<number, { at: number; name: string | undefined }[]>([1, 2].map((id) => [id, []]))
        const listening = async () => {
          for await (const { messages } of hasty.subscribe({ signal: new AbortController().signal })) {
            for (const one of messages as DeviceUpdate[])
              told.get(one.receiver_id)?.push({ at: now(), name: one.data.name })
          }
        }
        void listening()
        const last = new Map<number, string>()
        for (const [nth, one] of steps.entries()) {
          hasty.publish(update(one.receiver, { name: `n${nth}` }))
          last.set(one.receiver, `n${nth}`)
          lateMs += one.lateMs
          if (one.endsTurn) await pass(one.afterMs)
        }
        await pass(200)
        hasty.close()
        for (const [id, tellings] of told) {
          expect(tellings.length).toBeGreaterThan(10)
          expect(tellings.at(-1)?.name).toBe(last.get(id))
          for (const [nth, { at }] of tellings.entries()) {
            const tenth = tellings[nth + 10]
            if (tenth !== undefined) expect(tenth.at - at).toBeGreaterThanOrEqual(1000 - 1e-6)
          }
        }
      }),
      { numRuns: 300, endOnFailure: true },
    )
  }, 60_000)
})

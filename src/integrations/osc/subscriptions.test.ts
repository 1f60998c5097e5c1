import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { buildReceiver } from '../../../test/support/builders.ts'
import { buildSlotRecords } from '../../../test/support/titles.ts'
import { emptyChannel } from '../../domain/equipment/receiver.ts'
import { PlaceholderStore } from '../../ingest/placeholder-store.ts'
import { ReceiverStore } from '../../ingest/receiver-store.ts'
import type { PeerMessage } from './peers.ts'
import { OscPublisher } from './publisher.ts'
import { OscSubscriptions } from './subscriptions.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function start() {
  const receiverStore = new ReceiverStore()
  receiverStore.put(buildReceiver(1, { channels: [emptyChannel(1, 1, 1)] }))
  const publisher = new OscPublisher(receiverStore, new PlaceholderStore(), buildSlotRecords(receiverStore))
  const subscriptions = new OscSubscriptions(publisher, {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: () => {},
  })
  const stop = new AbortController()
  const ended = Promise.all([publisher.run(stop.signal), subscriptions.run(stop.signal)])
  let isClosed = false
  const received: PeerMessage[] = []
  const origin = {
    key: 'udp:10.0.0.5:4000',
    address: '10.0.0.5',
    isLoopback: false,
    createPeer: () => ({
      put: (_key: string, message: PeerMessage) => void received.push(message),
      close: () => {
        isClosed = true
      },
    }),
  }
  return {
    subscribe: () => subscriptions.subscribe(origin),
    unsubscribe: () => subscriptions.unsubscribe(origin.key),
    isClosed: () => isClosed,
    count: () => received.splice(0).length,
    async stop() {
      stop.abort()
      await ended
    },
  }
}

// Conformance: C-16.39.
it('ends a subscription after 60 seconds', async () => {
  const { subscribe, isClosed, count, stop } = start()
  subscribe()
  await vi.advanceTimersByTimeAsync(59_000)
  expect(isClosed()).toBe(false)
  expect(count()).toBeGreaterThan(0)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(isClosed()).toBe(true)
  count()
  await vi.advanceTimersByTimeAsync(30_000)
  expect(count()).toBe(0)
  await stop()
})

// Conformance: C-16.39.
it('a renewed subscription gets all values, and lasts 60 seconds more', async () => {
  const { subscribe, isClosed, count, stop } = start()
  subscribe()
  await vi.advanceTimersByTimeAsync(50_050)
  count()
  subscribe()
  await vi.advanceTimersByTimeAsync(100)
  // Name, state, attention and muted.
  expect(count()).toBeGreaterThanOrEqual(4)
  await vi.advanceTimersByTimeAsync(59_000)
  expect(isClosed()).toBe(false)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(isClosed()).toBe(true)
  await stop()
})

// Reliability: 3.12.14.
it('sends all values at most once in five seconds, also to a subscriber that leaves and returns', async () => {
  const { subscribe, unsubscribe, count, stop } = start()
  subscribe()
  await vi.advanceTimersByTimeAsync(200)
  // Name, state, attention and muted.
  expect(count()).toBe(4)
  for (let times = 0; times < 10; times++) subscribe()
  await vi.advanceTimersByTimeAsync(2_000)
  unsubscribe()
  subscribe()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(count()).toBe(0)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(count()).toBe(4)
  await stop()
})

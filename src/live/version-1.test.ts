import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { buildReceiver } from '../../test/support/builders.ts'
import type { AlertBody } from '../contract/alerts.ts'
import type { DeviceUpdate } from '../contract/messages.ts'
import type { Alert } from '../domain/alerts/alert.ts'
import { emptyChannel } from '../domain/equipment/receiver.ts'
import type { EquipmentFilter } from '../domain/equipment/sites.ts'
import type { BroadcastMessage } from '../domain/messages.ts'
import type { LevelRows } from '../ingest/level-store.ts'
import { ReceiverStore } from '../ingest/receiver-store.ts'
import { filterBatch, Version1 } from './version-1.ts'

function update(receiver_id: number, data: object, manufacturer = 'shure'): DeviceUpdate {
  return { type: 'device_update', manufacturer, receiver_id, data: { channels: [], ...data } }
}

/** Collects the messages that a subscriber receives from now on. */
function collect(version1: Version1, filter: EquipmentFilter = {}): { received: BroadcastMessage[]; stop(): void } {
  const stop = new AbortController()
  const received: BroadcastMessage[] = []
  const read = async () => {
    for await (const { messages } of version1.subscribe(filter, stop.signal)) received.push(...messages)
  }
  void read()
  return { received, stop: () => stop.abort() }
}

let version1: Version1
beforeEach(() => {
  vi.useFakeTimers()
  version1 = new Version1(new ReceiverStore())
})
afterEach(() => {
  version1.close()
  vi.useRealTimers()
})
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('version 1', () => {
  test('limits updates of a receiver to ten per second, delivers the first at once and always the last', async () => {
    const { received } = collect(version1)
    for (let n = 0; n < 50; n += 1) {
      version1.publish(update(1, { name: `n${n}` }))
      await pass(20)
    }
    await pass(200)
    expect(received.length).toBeGreaterThanOrEqual(10)
    expect(received.length).toBeLessThanOrEqual(12)
    expect(received[0]).toMatchObject({ data: { name: 'n0' } })
    expect(received.at(-1)).toMatchObject({ data: { name: 'n49' } })
  })

  test('merges delayed updates of a receiver', async () => {
    const { received } = collect(version1)
    version1.publish(update(1, { name: 'a' }))
    await pass(0)
    for (const data of [{ ip: '10.0.0.2' }, { name: 'b' }]) version1.publish(update(1, data))
    await pass(150)
    expect(received.map((message) => (message as DeviceUpdate).data)).toEqual([
      { channels: [], name: 'a' },
      { channels: [], ip: '10.0.0.2', name: 'b' },
    ])
  })

  test('merges updates of a receiver in one turn of the event loop into one message', async () => {
    const { received } = collect(version1)
    for (const data of [{ name: 'a' }, { ip: '10.0.0.2' }, { name: 'b' }]) version1.publish(update(1, data))
    await pass(150)
    expect(received).toEqual([update(1, { name: 'b', ip: '10.0.0.2' })])
  })

  test('does not delay one receiver because of another', async () => {
    const { received } = collect(version1)
    version1.publish(update(1, {}))
    version1.publish(update(2, {}))
    await pass(1)
    expect(received).toHaveLength(2)
  })

  test('delivers at most ten updates of a receiver per second and always the last, even if the event loop is late', async () => {
    const step = fc.record({
      receiver: fc.constantFrom(1, 1, 1, 2),
      // Sometimes other work delays the event loop before the published updates are delivered.
      lateMs: fc.oneof(
        { weight: 40, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.constantFrom(7, 40, 140) },
      ),
      /** False if the next update is published in the same turn of the event loop. */
      endsTurn: fc.constantFrom(true, true, true, false),
      afterMs: fc.nat(40),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 300, maxLength: 320 }), async (steps) => {
        let lateMs = 0
        // The unit and the test share this clock. `lateMs` does not change between the delivery of a message and its
        // reading, so the time of reading is the time of delivery.
        const now = () => performance.now() + lateMs
        const tested = new Version1(new ReceiverStore(), now)
        const delivered = new Map<number, { at: number; name: string | undefined }[]>([1, 2].map((id) => [id, []]))
        const read = async () => {
          for await (const { messages } of tested.subscribe({}, new AbortController().signal)) {
            for (const { receiver_id, data } of messages as DeviceUpdate[])
              delivered.get(receiver_id)?.push({ at: now(), name: data.name })
          }
        }
        void read()
        const last = new Map<number, string>()
        for (const [index, step] of steps.entries()) {
          tested.publish(update(step.receiver, { name: `n${index}` }))
          last.set(step.receiver, `n${index}`)
          lateMs += step.lateMs
          if (step.endsTurn) await pass(step.afterMs)
        }
        await pass(200)
        tested.close()
        for (const [id, updates] of delivered) {
          expect(updates.length).toBeGreaterThan(10)
          expect(updates.at(-1)?.name).toBe(last.get(id))
          for (const [index, { at }] of updates.entries()) {
            const tenth = updates[index + 10]
            if (tenth !== undefined) expect(tenth.at - at).toBeGreaterThanOrEqual(1000 - 1e-6)
          }
        }
      }),
      { numRuns: 300, endOnFailure: true },
    )
  })
})

describe('version 1 with several subscribers', () => {
  test('delivers messages about the selected manufacturer and messages without a manufacturer', async () => {
    const { received } = collect(version1, { manufacturer: 'shure' })
    version1.publish(update(1, {}, 'sennheiser'))
    version1.publish(update(2, {}, 'shure'))
    version1.publish({ type: 'status_update', about: 'upstream', manufacturer: null, message: 'x', status: 'healthy' })
    await pass(1)
    expect(received.map((message) => message.type).sort()).toEqual(['device_update', 'status_update'])
  })

  // Conformance: C-18.13.
  test('delivers messages about the selected site and messages that concern all sites', async () => {
    const receiverStore = new ReceiverStore()
    receiverStore.put(buildReceiver(1))
    receiverStore.put(buildReceiver(2, { origin: { record: 'a', site: { code: 'theatre', name: 'Theatre' }, id: 2 } }))
    version1 = new Version1(receiverStore)
    const [local, theatre, unknown] = ['local', 'theatre', 'arena'].map((site) => collect(version1, { site }).received)
    version1.publish(update(1, {}))
    version1.publish(update(2, {}))
    version1.publish({ type: 'event_deleted', id: 1 }, null)
    version1.publish({ type: 'event_deleted', id: 2 }, 'theatre')
    version1.publish({ type: 'event_deleted', id: 3 })
    await pass(1)
    expect(local).toMatchObject([{ receiver_id: 1 }, { id: 1 }, { id: 3 }])
    expect(theatre).toMatchObject([{ receiver_id: 2 }, { id: 2 }, { id: 3 }])
    expect(unknown).toMatchObject([{ id: 3 }])
  })

  // Conformance: C-7.14.
  test('delivers the newest update of each receiver, and every event, to a slow subscriber', async () => {
    const stop = new AbortController()
    const reader = version1.subscribe({}, stop.signal)[Symbol.asyncIterator]()
    for (let n = 0; n < 20; n += 1) {
      version1.publish(update(1, { name: `n${n}` }))
      version1.publish(update(2, { ip: `10.0.0.${n}` }))
      await pass(100)
    }
    version1.publish({
      type: 'status_update',
      about: 'upstream',
      manufacturer: 'shure',
      message: 'x',
      status: 'degraded',
    })
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

  test('shares one batch among all subscribers that keep up', async () => {
    const stop = new AbortController()
    const [a, b] = [version1.subscribe({}, stop.signal), version1.subscribe({}, stop.signal)]
    const filtered = version1.subscribe({ manufacturer: 'sennheiser' }, stop.signal)
    version1.publish(update(1, { name: 'a' }))
    version1.publish(update(2, { name: 'b' }, 'sennheiser'))
    await pass(0)
    const nexts = [a, b, filtered].map((subscriber) => subscriber[Symbol.asyncIterator]().next())
    const [first, second, third] = (await Promise.all(nexts)).map(({ value }) => value)
    expect(first.messages).toHaveLength(2)
    expect(first).toBe(second)
    expect(third.messages).toMatchObject([{ receiver_id: 2 }])
    expect(version1.subscribers).toBe(3)
    stop.abort()
    expect(version1.subscribers).toBe(0)
  })

  test('filters a batch by manufacturer', async () => {
    const stop = new AbortController()
    const reader = version1.subscribe({}, stop.signal)[Symbol.asyncIterator]()
    version1.publish(update(1, {}))
    version1.publish(update(2, {}, 'sennheiser'))
    await pass(0)
    const { value: batch } = await reader.next()
    expect(filterBatch(batch, () => true)).toBe(batch)
    expect(filterBatch(batch, (manufacturer) => manufacturer === 'shure').messages).toMatchObject([{ receiver_id: 1 }])
    stop.abort()
  })
})

describe('version 1 as a client of the publisher', () => {
  test('sends what changed of a receiver with all its channels, and a removed receiver without channels', async () => {
    const { received } = collect(version1)
    const before = buildReceiver(1)
    const renamed = { ...before, name: 'Rack B' }
    version1.receiverChanged(before, { ...before, last_seen: before.last_seen + 1 })
    version1.receiverChanged(before, renamed)
    await pass(1)
    expect(received).toMatchObject([{ receiver_id: 1, data: { name: 'Rack B', channels: renamed.channels } }])
    version1.receiverChanged(renamed, undefined)
    await pass(150)
    expect(received.slice(1)).toEqual([update(1, { is_active: false })])
  })

  test('sends the newest levels of a receiver on delivery', async () => {
    const receiverStore = new ReceiverStore()
    version1 = new Version1(receiverStore)
    const { received } = collect(version1)
    receiverStore.put(buildReceiver(1, { channels: [emptyChannel(10, 1, 1)] }))
    const rows = receiverStore.levels.rowsOf(1) as LevelRows
    version1.levelsChanged([rows])
    receiverStore.levels.apply(rows, [{ channel: 1, rf_level: -61 }], 0)
    await pass(1)
    expect(received).toMatchObject([{ receiver_id: 1, data: { channels: [{ id: 10, rf_level: -61 }] } }])
  })

  test('sends an alert unless it is silenced or only its values changed', async () => {
    const { received } = collect(version1)
    const change = (state: Alert['state'], { silenced = false, hasOnlyOtherValues = false, isStored = true } = {}) => {
      const alert = { id: 1, state, site: null } as Alert
      version1.alertChanged({ alert, body: { silenced } as AlertBody, hasOnlyOtherValues, isStored })
    }
    change('raised', { silenced: true })
    change('raised', { hasOnlyOtherValues: true })
    change('raised')
    change('cleared', { silenced: true })
    // It cannot be stored, so it is sent in any case.
    change('acknowledged', { silenced: true, isStored: false })
    await pass(1)
    expect(received.map((message) => 'state' in message && message.state)).toEqual([
      'raised',
      'cleared',
      'acknowledged',
    ])
  })
})

import { describe, expect, it } from 'vitest'
import type { DeviceReport } from '../domain/equipment/receiver.ts'
import { toDraft } from '../domain/identity/ingest-plan.ts'
import { Semaphore } from '../platform/concurrency.ts'
import type { Batch, IngestReport } from './plan-batch.ts'
import { ReceiverStore } from './receiver-store.ts'
import type { ReceiverTransactions } from './receiver-transactions.ts'
import { WriteQueue } from './write-queue.ts'

const receiver = (id: string, fields: Partial<DeviceReport> = {}): DeviceReport => ({ id, kind: 'receiver', ...fields })
const batch = (...reports: DeviceReport[]): Batch => ({ manufacturer: 'shure', reports })
const counts = { created: 0, updated: 0, moved: 0, duplicates: 0, repeated: 0, conflicts: 0 }

/** Creates a queue that records the device ids of every transaction. */
function createQueue({ known = [] as DeviceReport[], rejects = (_: Batch): boolean => false } = {}) {
  const transactions: string[][] = []
  const semaphore = new Semaphore(1)
  const receiverStore = new ReceiverStore()
  for (const report of known) receiverStore.put({ ...toDraft('shure', report, 1000), id: 1, channels: [] })
  const serialized = { enqueue: (work: () => Promise<void>) => semaphore.run(work) } as ReceiverTransactions
  const queue = new WriteQueue(receiverStore, serialized, async (batches) => {
    transactions.push(batches.flatMap(({ reports }) => reports.map(({ id }) => id)))
    if (batches.some(rejects)) throw new Error('rejected')
    return batches.map(({ reports }): IngestReport => ({ ...counts, devices: reports.length }))
  })
  return { queue, transactions }
}

describe('the write queue', () => {
  it('stores batches that were queued during a write in one transaction, and reports each separately', async () => {
    const { queue, transactions } = createQueue()
    const batches = [batch(receiver('a')), batch(receiver('b')), batch(receiver('c'), receiver('d'))]
    const reports = await Promise.all(batches.map((each) => queue.add(each)))
    expect(transactions).toEqual([['a', 'b', 'c', 'd']])
    expect(reports.map(({ devices }) => devices)).toEqual([1, 1, 2])
  })

  it.each<[string, DeviceReport, DeviceReport]>([
    ['the same id', receiver('a'), receiver('a')],
    [
      'the same MAC address',
      receiver('a', { mac_address: '00:0E:DD:00:00:01' }),
      receiver('b', { mac_address: '000edd000001' }),
    ],
    ['the same IP address', receiver('a', { ip: '10.0.0.1' }), receiver('b', { ip: '10.0.0.1' })],
    ['the serial number of a known receiver', receiver('known'), receiver('b', { serial_number: 'S1' })],
  ])('stores reports with %s one after the other', async (_, first, second) => {
    const { queue, transactions } = createQueue({ known: [receiver('known', { serial_number: 'S1' })] })
    await Promise.all([queue.add(batch(first)), queue.add(batch(second))])
    expect(transactions).toEqual([[first.id], [second.id]])
  })

  it('stores a batch that marks receivers as offline in a separate transaction, and keeps the order', async () => {
    const { queue, transactions } = createQueue()
    const offline = { ...batch(receiver('b')), offline: [1] }
    await Promise.all([batch(receiver('a')), offline, batch(receiver('c'))].map((each) => queue.add(each)))
    expect(transactions).toEqual([['a'], ['b'], ['c']])
  })

  it('stores the other batches when one is rejected', async () => {
    const { queue, transactions } = createQueue({ rejects: ({ reports }) => reports.some(({ id }) => id === 'b') })
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((id) => queue.add(batch(receiver(id)))))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(transactions).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']])
  })
})

import { setImmediate as turn } from 'node:timers/promises'
import { expect, it, test } from 'vitest'
import { ClientShares, FairQueue, Semaphore } from './concurrency.ts'

test('runs work in order of arrival, at most `limit` at a time', async () => {
  const semaphore = new Semaphore(2)
  const finish: (() => void)[] = []
  const started: number[] = []
  const runs = [0, 1, 2, 3].map((n) =>
    semaphore.run(() => {
      started.push(n)
      return new Promise<number>((resolve) => finish.push(() => resolve(n)))
    }),
  )
  await turn()
  expect(started).toEqual([0, 1])
  finish[1]?.()
  await turn()
  expect(started).toEqual([0, 1, 2])
  finish[0]?.()
  await turn()
  expect(started).toEqual([0, 1, 2, 3])
  for (const end of finish) end()
  expect(await Promise.all(runs)).toEqual([0, 1, 2, 3])
})

test('continues with the next work after a failure', async () => {
  const mutex = new Semaphore(1)
  const failed = mutex.run(() => Promise.reject(new Error('disk full')))
  const next = mutex.run(async () => 'next')
  await expect(failed).rejects.toThrow('disk full')
  expect(await next).toBe('next')
})

const createQueue = (atOnce: number, places: number) =>
  new FairQueue({ atOnce, places, refuse: (share) => new Error(`share ${share}`) })

/** Adds work that runs until `finish` is called with its name. */
function recordWork(queue: FairQueue) {
  const started: string[] = []
  const finish = new Map<string, () => void>()
  return {
    started,
    add: (client: string | null, name: string) =>
      queue.run(client, () => {
        started.push(name)
        return new Promise<void>((resolve) => finish.set(name, resolve))
      }),
    async finish(name: string) {
      finish.get(name)?.()
      await turn()
    },
  }
}

// Reliability: 3.12.13.
it('lets clients take turns, whatever waits of one of them', async () => {
  const work = recordWork(createQueue(1, 100))
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => work.add(name.slice(0, 1), name))
  all.push(work.add(null, 'own'))
  await turn()
  for (let count = 0; count < all.length; count++) await work.finish(work.started.at(-1) ?? '')
  await Promise.all(all)
  expect(work.started).toEqual(['a1', 'a2', 'b1', 'c1', 'own', 'a3', 'b2'])
})

// Reliability: 3.12.13.
it('runs at most a quarter of what runs at once for one client', async () => {
  const work = recordWork(createQueue(4, 100))
  const all = ['a1', 'a2', 'b1', 'b2'].map((name) => work.add(name.slice(0, 1), name))
  await turn()
  expect(work.started).toEqual(['a1', 'b1'])
  await work.finish('b1')
  expect(work.started).toEqual(['a1', 'b1', 'b2'])
  for (const name of ['a1', 'b2', 'a2']) await work.finish(name)
  await Promise.all(all)
})

// Reliability: 3.12.13.
it('refuses a client that has its share of the places, and no other', async () => {
  const queue = createQueue(1, 8)
  const work = recordWork(queue)
  const first = [work.add('a', 'a1'), work.add('a', 'a2')]
  await expect(work.add('a', 'a3')).rejects.toThrow('share 2')
  const others = [work.add('b', 'b1'), work.add(null, 'own')]
  await turn()
  for (const name of ['a1', 'a2', 'b1', 'own']) await work.finish(name)
  await Promise.all([...first, ...others])
  expect(await queue.run('a', async () => 'again')).toBe('again')
})

it('keeps the place of work that continues in parts, and lets others run between the parts', async () => {
  const queue = createQueue(1, 4)
  const place = queue.enter('a')
  expect(() => queue.enter('a')).toThrow('share 1')
  const order: string[] = []
  const add = (name: string) => async () => void order.push(name)
  await Promise.all([place.run(add('a1')), place.run(add('a2')), queue.run('b', add('b1'))])
  expect(order).toEqual(['a1', 'a2', 'b1'])
  place.leave()
  queue.enter('a').leave()
})

it('continues after work that has failed', async () => {
  const queue = createQueue(1, 8)
  const failed = queue.run('a', () => Promise.reject(new Error('disk full')))
  const next = queue.run('a', async () => 'next')
  await expect(failed).rejects.toThrow('disk full')
  expect(await next).toBe('next')
})

it('ClientShares gives a quarter, or what one client needs if that is more, and never more than there is', () => {
  const shares = new ClientShares(12, 5)
  const takeAll = (client: string) =>
    Array.from({ length: 12 }, () => shares.take(client)).filter((one) => one !== null)
  const [a, b, c] = [takeAll('a'), takeAll('b'), takeAll('c')]
  expect([a.length, b.length, c.length]).toEqual([5, 5, 2])
  expect(shares.take(null)).not.toBeNull()
  // Only the first call releases it.
  a[0]?.()
  a[0]?.()
  expect(takeAll('c')).toHaveLength(1)
  expect(new ClientShares(100).share).toBe(25)
})

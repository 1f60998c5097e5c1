import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Semaphore } from './semaphore.ts'

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

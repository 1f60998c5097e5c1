import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { merge } from './merge.ts'

async function* every(ms: number, ...items: (string | Error)[]): AsyncGenerator<string> {
  for (const item of items) {
    await pause(ms)
    if (item instanceof Error) throw item
    yield item
  }
}

test('yields values in order of arrival until all streams have ended', async () => {
  const received: string[] = []
  let continueLate = () => {}
  const isReceived = new Promise<void>((resolve) => {
    continueLate = resolve
  })
  async function* late() {
    await isReceived
    yield 'c'
  }
  for await (const value of merge(late(), every(20, 'a', 'b'), every(1))) {
    received.push(value)
    if (value === 'b') continueLate()
  }
  expect(received).toEqual(['a', 'b', 'c'])
})

test('closes all streams on the first error', async () => {
  let isEnded = false
  async function* endless() {
    try {
      for (;;) yield await pause(5, 'x')
    } finally {
      isEnded = true
    }
  }
  const received: string[] = []
  const reading = (async () => {
    for await (const value of merge(endless(), every(30, new Error('lost')))) received.push(value)
  })()
  await expect(reading).rejects.toThrow('lost')
  expect(received.length).toBeGreaterThan(0)
  await eventually(() => isEnded).toBe(true)
})

test('closes all streams when the reader stops', async () => {
  const ended: string[] = []
  async function* named(name: string) {
    try {
      for (;;) yield await pause(1, name)
    } finally {
      ended.push(name)
    }
  }
  for await (const _ of merge(named('a'), named('b'))) break
  await eventually(() => ended.toSorted()).toEqual(['a', 'b'])
})

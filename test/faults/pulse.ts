/** Measures whether a service responds continuously while other parts fail. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { client, TestApp } from '../app.ts'
import { atEnd } from '../scope.ts'
import type { RecordedRequest } from './system.ts'

/** Sends a request and a ping ten times a second. */
export async function watchPulse(service: Pick<TestApp, 'get' | 'socket'> | ReturnType<typeof client>) {
  const socket = await service.socket()
  const times: number[] = []
  const bad: string[] = []
  let isOver = false
  const beat = async () => {
    const startedAt = performance.now()
    const id = `beat ${startedAt}`
    socket.send({ type: 'ping', id })
    const pong = socket.next((message) => message.id === id)
    for (const path of ['/healthz', '/api/data.json', '/api/receivers/', '/api/config/']) {
      const { status } = await service.get(path)
      if (status !== 200) bad.push(`${path} answered ${status}`)
    }
    await pong
    times.push(performance.now() - startedAt)
  }
  const beating = (async () => {
    for (; !isOver; await sleep(100)) await beat()
  })()
  beating.catch(() => {})
  atEnd(() => {
    isOver = true
  })
  return {
    /** Returns the longest time of a request and a ping; throws if a request failed. Stops the measurement. */
    async longestMs(): Promise<number> {
      isOver = true
      await beating
      if (bad.length > 0) throw new Error([...new Set(bad)].join(', '))
      return Math.max(...times)
    },
  }
}

/** The longest time between two requests for the device list. */
export function longestGapMs(requests: readonly RecordedRequest[]): number {
  const times = requests.filter(({ path }) => /\/devices\/?$/.test(path)).map(({ at }) => at)
  return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)))
}

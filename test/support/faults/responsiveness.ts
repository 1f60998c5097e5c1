/** Measures whether a service responds continuously while other parts fail. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { client, TestApp } from '../app.ts'
import { onTestEnd } from '../cleanup.ts'
import type { RecordedRequest } from './system.ts'

/** Sends a request and a ping ten times a second, and measures the response times. */
export async function monitorResponsiveness(service: Pick<TestApp, 'get' | 'socket'> | ReturnType<typeof client>) {
  const socket = await service.socket()
  const times: number[] = []
  const failures: string[] = []
  let isStopped = false
  const measure = async () => {
    const startedAt = performance.now()
    const id = `beat ${startedAt}`
    socket.send({ type: 'ping', id })
    const pong = socket.next((message) => message.id === id)
    for (const path of ['/healthz', '/api/data.json', '/api/receivers/', '/api/config/']) {
      const { status } = await service.get(path)
      if (status !== 200) failures.push(`${path} returned ${status}`)
    }
    await pong
    times.push(performance.now() - startedAt)
  }
  const measuring = (async () => {
    for (; !isStopped; await sleep(100)) await measure()
  })()
  measuring.catch(() => {})
  onTestEnd(() => {
    isStopped = true
  })
  return {
    /** Stops the measurement and returns the longest response time. Throws if a request failed. */
    async longestMs(): Promise<number> {
      isStopped = true
      await measuring
      if (failures.length > 0) throw new Error([...new Set(failures)].join(', '))
      return Math.max(...times)
    },
  }
}

/** Returns the longest time between two successive requests for the device list. */
export function longestGapMs(requests: readonly RecordedRequest[]): number {
  const times = requests.filter(({ path }) => /\/devices\/?$/.test(path)).map(({ at }) => at)
  return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)))
}

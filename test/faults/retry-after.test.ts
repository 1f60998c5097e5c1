/** Systems that send Retry-After or a new challenge, and the highest request rate that they see. */

import type { OutgoingHttpHeaders } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../scripts/free-port.ts'
import { now } from '../../src/platform/clock.ts'
import { configFor, startApp, startShure, type TestApp, until, withoutPush } from '../support/app.ts'
import { openShared } from '../support/cleanup.ts'
import { device, respondError, respondJson, type System, startSystem } from '../support/faults/system.ts'
import { holdMs } from '../support/internals.ts'
import { timeLimit } from '../support/time-limit.ts'

const longAgo = Date.parse('2001-02-03T04:05:06Z')
const date = (time: number) => new Date(time).toUTCString()

interface Pause {
  readonly name: string
  readonly status?: number
  readonly headers: () => OutgoingHttpHeaders
  /** No requests are sent for this time; null if the response is treated as an ordinary failure, with back-off. */
  readonly holdSeconds: number | null
}

const cases: readonly Pause[] = [
  { name: 'two seconds', headers: () => ({ 'retry-after': '2' }), holdSeconds: 2 },
  { name: '503 with three seconds', status: 503, headers: () => ({ 'retry-after': '3' }), holdSeconds: 3 },
  {
    name: 'a date of a clock that is years behind',
    headers: () => ({ date: date(longAgo), 'retry-after': date(longAgo + 3000) }),
    holdSeconds: 3,
  },
  // A date has whole seconds, so up to one second is lost.
  { name: 'a date of the local clock', headers: () => ({ 'retry-after': date(now() + 4000) }), holdSeconds: 3 },
  { name: '0', headers: () => ({ 'retry-after': '0' }), holdSeconds: 1 },
  { name: '-5', headers: () => ({ 'retry-after': '-5' }), holdSeconds: 1 },
  { name: 'a date that is past', headers: () => ({ 'retry-after': date(now() - 60_000) }), holdSeconds: 1 },
  { name: '1.5', headers: () => ({ 'retry-after': '1.5' }), holdSeconds: null },
  { name: 'abc', headers: () => ({ 'retry-after': 'abc' }), holdSeconds: null },
  { name: '9999999999', headers: () => ({ 'retry-after': '9999999999' }), holdSeconds: 300 },
]
/** After one failure at an interval of 1 s: 1 s - 20%, counted from the start of the cycle, before its request. */
const shortestBackoffMs = 800
const codeOf = (pause: Pause) => `pause-${cases.indexOf(pause)}`

describe('a system that sends Retry-After', () => {
  let app: TestApp
  let otherSystem: System
  const systems: System[] = []
  const limitedAt: number[] = []
  const healthOf = async (code: string) => (await app.get(`/api/health/?manufacturer=${code}`)).json.vendor_api

  beforeAll(() =>
    openShared(async () => {
      otherSystem = await startSystem(respondJson({ devices: [device(1000)] }))
      for (const index of cases.keys()) systems.push(await startSystem(respondJson({ devices: [device(index + 1)] })))
      const entries = cases.map((pause, index) => (systems[index] as System).entry(codeOf(pause)))
      app = await startApp({ manufacturers: [...entries, otherSystem.entry('neighbour')] })
      await until('all receivers are known', async () => (await app.receivers()).length === cases.length + 1, 20_000)
      for (const [index, { status = 429, headers }] of cases.entries()) {
        const system = systems[index] as System
        system.respondWith((request, response) => {
          limitedAt[index] = performance.now()
          system.respondWith(respondJson({ devices: [device(index + 1)] }, 200, { date: date(longAgo) }))
          response.sendDate = headers().date !== undefined
          respondError(status, headers())(request, response)
        })
      }
      await until('all have sent Retry-After', () => cases.every((_, index) => limitedAt[index] !== undefined))
    }),
  )

  // Reliability: 2.1.3, U7.
  it('is not called by any caller, and is reported as rate limited, not as failed', async () => {
    // The longest pause, because shorter ones may end before this test begins.
    const longest = cases.find(({ holdSeconds }) => holdSeconds === 300) as Pause
    const limitedSystem = systems[cases.indexOf(longest)] as System
    const code = codeOf(longest)
    const requestsBefore = limitedSystem.requests.length
    for (let round = 0; round < 3; round += 1) {
      const refreshed = await app.post(`/api/refresh/?manufacturer=${code}`)
      expect(refreshed).toMatchObject({ status: 503, json: { details: expect.stringContaining('rate limited') } })
      expect(Number(refreshed.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    }
    const health = await healthOf(code)
    expect(health).toMatchObject({ status: 'healthy', consecutive_failures: 0, error: null })
    expect(health.details).toEqual([expect.stringMatching(/rate limited/)])
    const [known] = (await app.get(`/api/receivers/?manufacturer=${code}`)).json
    expect(known.is_active).toBe(true)
    expect(limitedSystem.requests).toHaveLength(requestsBefore)
  })

  // Reliability: U7, U8, U9, U10.
  it.each(cases)('$name: is not called for the given time, within the limit', async (pause) => {
    const index = cases.indexOf(pause)
    const system = systems[index] as System
    const rejected = limitedAt[index] as number
    if (pause.holdSeconds === 300) {
      expect(holdMs(app, codeOf(pause))).toBeLessThanOrEqual(300_000)
      expect(holdMs(app, codeOf(pause))).toBeGreaterThan(200_000)
      expect(system.requests.filter((request) => request.at > rejected)).toEqual([])
      return
    }
    const next = await until(
      'the system receives another request',
      () => system.requests.find((request) => request.at > rejected),
      15_000,
    )
    const earliestMs = pause.holdSeconds === null ? shortestBackoffMs / 2 : pause.holdSeconds * 1000 - 200
    expect(next.at - rejected).toBeGreaterThan(earliestMs)
    expect(next.at - rejected).toBeLessThan((pause.holdSeconds ?? 1) * 1000 + timeLimit(2000))
    await until('the status is healthy', async () => {
      const { status, details } = await healthOf(codeOf(pause))
      return status === 'healthy' && details.length === 0
    })
  })

  // Reliability: U7, U27.
  it('does not delay calls to another system; a wrong date in its responses affects no reported time', async () => {
    const lastLimitedAt = Math.max(...limitedAt)
    const otherRequests = otherSystem.requests.filter(({ at }) => at > lastLimitedAt)
    expect(otherRequests.length).toBeGreaterThan(((performance.now() - lastLimitedAt) / 1000) * 0.5)
    for (const { last_seen } of await app.summaries()) {
      expect(Math.abs(now() - Date.parse(last_seen))).toBeLessThan(60_000)
    }
  })
})

// Reliability: U9.
it.concurrent('a response with an invalid Retry-After header is an ordinary failure', async () => {
  const system = await startSystem(respondError(429, { 'retry-after': 'soon' }))
  const app = await startApp({ manufacturers: [system.entry('hasty')] })
  const { details } = await until('the poll has failed', async () => {
    const { vendor_api } = (await app.get('/api/health/')).json
    return vendor_api.consecutive_failures > 0 && vendor_api
  })
  expect(details).toEqual([])
})

describe('a nonce', () => {
  // Reliability: U5.
  it('is replaced within the cycle when it is stale, repeatedly, and no nonce count is reused', async () => {
    const shure = withoutPush(await startShure({ receivers: 3, nonceUses: 2 }))
    const app = await startApp({ manufacturers: [configFor(shure)] })
    await until('all receivers are known', async () => (await app.receivers()).length === 3)
    for (let round = 0; round < 5; round += 1) {
      expect((await app.post('/api/refresh/')).json).toMatchObject({ status: 'success', receivers_updated: 3 })
      expect((await app.get('/api/health/')).json.vendor_api.consecutive_failures).toBe(0)
    }
    const { entries } = shure.requests
    expect(entries.filter(({ refusal }) => refusal === 'stale').length).toBeGreaterThan(5)
    const reasons = new Set(entries.flatMap(({ refusal }) => (refusal === 'replay' ? [] : (refusal ?? []))))
    expect([...reasons].sort()).toEqual(['no-credentials', 'stale'])
    // The system also rejects counts that arrive out of order: a subscription is tried while the system is polled.
    const used = entries.flatMap(({ authorization }) => authorization?.match(/\b(nonce="[^"]+"|nc=\w+)/g)?.join() ?? [])
    expect(used).toEqual([...new Set(used)])
    expect(used.length).toBeGreaterThan(10)
  })
})

// Reliability: U4.
it.concurrent('credentials that are revoked while a subscription is up cost at most four requests, and then none for a minute', async () => {
  const port = await freePort()
  const first = await startShure({ sharedKey: 'the old one', port })
  const app = await startApp({ manufacturers: [configFor(first)] })
  await until('the subscription is connected', () => first.push.connections > 0)
  await first.close()
  const second = await startShure({ sharedKey: 'the new one', port })
  const health = await until('the credentials are rejected', async () => {
    const { error } = (await app.get('/api/health/')).json.vendor_api
    return /credentials rejected/.test(error) && error
  })
  expect(health).toContain('credentials rejected')
  await new Promise((resolve) => setTimeout(resolve, 8000))
  expect(second.requests.total).toBeLessThanOrEqual(4)
  expect(second.requests.total).toBeGreaterThanOrEqual(2)
})

// Reliability: 2.1.6.
it.concurrent('a refresh joins the cycle that is running', async () => {
  const system = await startSystem((request, response) => {
    setTimeout(() => respondJson({ devices: [device(1)] })(request, response), 4000)
  })
  const app = await startApp({ manufacturers: [system.entry('slow', { poll_interval: 3600 })] })
  await until('the system receives a request', () => system.requests.length > 0)
  const responses = await Promise.all([app.post('/api/refresh/'), app.post('/api/refresh/')])
  for (const response of responses) expect(response.json).toMatchObject({ status: 'success', receivers_updated: 1 })
  expect(system.requests).toHaveLength(1)
})

// Reliability: T3.
it.concurrent('a cycle that outlasts its interval is followed by the next one without overlap, and counted', async () => {
  const system = await startSystem((request, response) => {
    setTimeout(() => respondJson({ devices: [device(1)] })(request, response), 1300)
  })
  const app = await startApp({ manufacturers: [system.entry('slow')] })
  const { status } = await until('two overruns are counted', async () => {
    const { vendor_api } = (await app.get('/api/health/')).json
    return vendor_api.overruns >= 2 && vendor_api
  })
  expect(status).toBe('healthy')
  expect(system.maxConcurrent).toBe(1)
  const gaps = system.requests.slice(1).map(({ at }, index) => at - (system.requests[index]?.endedAt ?? 0))
  for (const gap of gaps) expect(gap).toBeGreaterThan(90)
  expect(Math.min(...gaps)).toBeLessThan(timeLimit(500))
})

// Not concurrent, because it measures the times of calls.
// Reliability: U28.
it('polls, refreshes and scans together stay within the rate limit', async () => {
  // The system allows slightly more than the configured rate, because calls with correct spacing may arrive closer
  // together on a busy machine.
  const shure = withoutPush(await startShure({ receivers: 30, rateLimit: { perSecond: 60, burst: 30 } }))
  const app = await startApp({ manufacturers: [configFor(shure, { calls_per_second: 50, burst: 20 })] })
  const scan = () => app.post('/api/discover/', { scan_subnet: '10.10.0.0/28' })
  for (let round = 0; round < 3; round += 1) {
    const responses = await Promise.all([app.post('/api/refresh/'), scan(), app.post('/api/refresh/')])
    for (const { status } of responses) expect([200, 409]).toContain(status)
  }
  expect(await app.receivers()).toHaveLength(30)
  expect(shure.requests.total).toBeGreaterThan(100)
  expect(shure.requests.limited).toBe(0)
})

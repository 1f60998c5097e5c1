/** Systems that ask us to wait or to sign in anew, and what we ask of them at most. */

import type { OutgoingHttpHeaders } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { entryOf, startApp, startShure, type TestApp, until, withoutLink } from '../app.ts'
import { sharing } from '../scope.ts'
import { timeLimit } from '../time-limit.ts'
import { device, refuses, type System, says, startSystem } from './system.ts'

const longAgo = Date.parse('2001-02-03T04:05:06Z')
const date = (time: number) => new Date(time).toUTCString()

interface Pause {
  readonly name: string
  readonly status?: number
  readonly headers: () => OutgoingHttpHeaders
  /** So long nothing is sent; null: it is an ordinary failure. */
  readonly holdSeconds: number | null
}

const pauses: readonly Pause[] = [
  { name: 'seven seconds', headers: () => ({ 'retry-after': '7' }), holdSeconds: 7 },
  { name: '503 with three seconds', status: 503, headers: () => ({ 'retry-after': '3' }), holdSeconds: 3 },
  {
    name: 'a date of a clock that is years off',
    headers: () => ({ date: date(longAgo), 'retry-after': date(longAgo + 3000) }),
    holdSeconds: 3,
  },
  // A date has whole seconds, so up to one of them is lost.
  { name: 'a date of our own clock', headers: () => ({ 'retry-after': date(Date.now() + 4000) }), holdSeconds: 3 },
  { name: '0', headers: () => ({ 'retry-after': '0' }), holdSeconds: 1 },
  { name: '-5', headers: () => ({ 'retry-after': '-5' }), holdSeconds: 1 },
  { name: 'a date that is past', headers: () => ({ 'retry-after': date(Date.now() - 60_000) }), holdSeconds: 1 },
  { name: '1.5', headers: () => ({ 'retry-after': '1.5' }), holdSeconds: null },
  { name: 'abc', headers: () => ({ 'retry-after': 'abc' }), holdSeconds: null },
  { name: '9999999999', headers: () => ({ 'retry-after': '9999999999' }), holdSeconds: 300 },
]
const codeOf = (pause: Pause) => `pause-${pauses.indexOf(pause)}`

describe('a system that asks for a pause', () => {
  let app: TestApp
  let neighbour: System
  const systems: System[] = []
  const refusedAt: number[] = []
  const fares = async (code: string) => (await app.get(`/api/health/?manufacturer=${code}`)).json.vendor_api

  beforeAll(() =>
    sharing(async () => {
      neighbour = await startSystem(says({ devices: [device(1000)] }))
      for (const at of pauses.keys()) systems.push(await startSystem(says({ devices: [device(at + 1)] })))
      const entries = pauses.map((pause, at) => (systems[at] as System).entry(codeOf(pause)))
      app = await startApp({ manufacturers: [...entries, neighbour.entry('neighbour')] })
      await until('all are known', async () => (await app.receivers()).length === pauses.length + 1, 20_000)
      for (const [at, { status = 429, headers }] of pauses.entries()) {
        const system = systems[at] as System
        system.answer((request, response) => {
          refusedAt[at] = performance.now()
          system.answer(says({ devices: [device(at + 1)] }, 200, { date: date(longAgo) }))
          response.sendDate = headers().date !== undefined
          refuses(status, headers())(request, response)
        })
      }
      await until('all have asked', () => pauses.every((_, at) => refusedAt[at] !== undefined))
    }),
  )

  // Reliability: 2.1.3, U7.
  it('gets it from whatever would ask, and is called degraded, not failing', async () => {
    const [seven] = systems as [System]
    const code = codeOf(pauses[0] as Pause)
    const asked = seven.asked.length
    for (let turn = 0; turn < 3; turn += 1) {
      const refreshed = await app.post(`/api/refresh/?manufacturer=${code}`)
      expect(refreshed).toMatchObject({ status: 503, json: { details: expect.stringContaining('rate limited') } })
      expect(Number(refreshed.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    }
    const told = await fares(code)
    expect(told).toMatchObject({ status: 'healthy', consecutive_failures: 0, error: null })
    expect(told.details).toEqual([expect.stringMatching(/rate limited/)])
    const [known] = (await app.get(`/api/receivers/?manufacturer=${code}`)).json
    expect(known.is_active).toBe(true)
    expect(seven.asked).toHaveLength(asked)
  })

  // Reliability: U7, U8, U9, U10.
  it.each(pauses)('$name: for as long as it may', async (pause) => {
    const at = pauses.indexOf(pause)
    const system = systems[at] as System
    const refused = refusedAt[at] as number
    if (pause.holdSeconds === 300) {
      const [detail] = (await fares(codeOf(pause))).details
      expect(Number(/(\d+) s/.exec(detail)?.[1])).toBeLessThanOrEqual(300)
      expect(Number(/(\d+) s/.exec(detail)?.[1])).toBeGreaterThan(200)
      expect(system.asked.filter((one) => one.at > refused)).toEqual([])
      return
    }
    const next = await until('it is asked again', () => system.asked.find((one) => one.at > refused), 15_000)
    expect(next.at - refused).toBeGreaterThan((pause.holdSeconds ?? 0.8) * 1000 - 200)
    expect(next.at - refused).toBeLessThan((pause.holdSeconds ?? 1) * 1000 + timeLimit(2000))
    await until('it is well', async () => {
      const { status, details } = await fares(codeOf(pause))
      return status === 'healthy' && details.length === 0
    })
  })

  // Reliability: U7, U27.
  it('keeps no neighbour from being asked, and tells no time but that', async () => {
    const since = Math.max(...refusedAt)
    const own = neighbour.asked.filter(({ at }) => at > since)
    expect(own.length).toBeGreaterThan(((performance.now() - since) / 1000) * 0.5)
    for (const { last_seen } of await app.receivers()) {
      expect(Math.abs(Date.now() - Date.parse(last_seen))).toBeLessThan(60_000)
    }
  })
})

// Reliability: U9.
it.concurrent('a pause that cannot be read is an ordinary failure', async () => {
  const system = await startSystem(refuses(429, { 'retry-after': 'soon' }))
  const app = await startApp({ manufacturers: [system.entry('hasty')] })
  const { consecutive_failures, details } = await until('it has failed', async () => {
    const { vendor_api } = (await app.get('/api/health/')).json
    return vendor_api.consecutive_failures > 0 && vendor_api
  })
  expect([consecutive_failures, details]).toEqual([1, []])
})

describe('a nonce', () => {
  // Reliability: U5.
  it('that turns stale is replaced within the cycle, again and again, and no count is used twice', async () => {
    const shure = withoutLink(await startShure({ receivers: 3, nonceUses: 2 }))
    const app = await startApp({ manufacturers: [entryOf(shure)] })
    await until('all are known', async () => (await app.receivers()).length === 3)
    for (let turn = 0; turn < 5; turn += 1) {
      expect((await app.post('/api/refresh/')).json).toMatchObject({ status: 'success', receivers_updated: 3 })
      expect((await app.get('/api/health/')).json.vendor_api.consecutive_failures).toBe(0)
    }
    const refusals = shure.requests.entries.flatMap(({ refusal }) => refusal ?? [])
    expect(refusals.length).toBeGreaterThan(5)
    expect([...new Set(refusals)].sort()).toEqual(['no-credentials', 'stale'])
  })
})

// Reliability: U4.
it.concurrent('credentials that are revoked while a link is up cost four requests, and then a minute of silence', async () => {
  const first = await startShure({ sharedKey: 'the old one' })
  const app = await startApp({ manufacturers: [entryOf(first)] })
  await until('the link is up', () => first.push.links > 0)
  await first.close()
  const { port } = new URL(first.baseUrl)
  const second = await startShure({ sharedKey: 'the new one', port: Number(port) })
  const told = await until('it is refused', async () => {
    const { error } = (await app.get('/api/health/')).json.vendor_api
    return /credentials rejected/.test(error) && error
  })
  expect(told).toContain('credentials rejected')
  await new Promise((resolve) => setTimeout(resolve, 8000))
  expect(second.requests.total).toBeLessThanOrEqual(4)
  expect(second.requests.total).toBeGreaterThanOrEqual(2)
})

// Reliability: 2.1.6.
it.concurrent('a refresh joins the cycle that is under way', async () => {
  const system = await startSystem((request, response) => {
    setTimeout(() => says({ devices: [device(1)] })(request, response), 1000)
  })
  const app = await startApp({ manufacturers: [system.entry('slow', { poll_interval: 3600 })] })
  await until('it is asked', () => system.asked.length > 0)
  const answers = await Promise.all([app.post('/api/refresh/'), app.post('/api/refresh/')])
  for (const answer of answers) expect(answer.json).toMatchObject({ status: 'success', receivers_updated: 1 })
  expect(system.asked).toHaveLength(1)
})

// Reliability: T3.
it.concurrent('a cycle that outlasts its interval is followed by one, not overlapped, and counted', async () => {
  const system = await startSystem((request, response) => {
    setTimeout(() => says({ devices: [device(1)] })(request, response), 1300)
  })
  const app = await startApp({ manufacturers: [system.entry('slow')] })
  const { overruns, status } = await until('two have been counted', async () => {
    const { vendor_api } = (await app.get('/api/health/')).json
    return vendor_api.overruns >= 2 && vendor_api
  })
  expect([overruns, status]).toEqual([2, 'healthy'])
  expect(system.mostAtOnce).toBe(1)
  const gaps = system.asked.slice(1).map(({ at }, nth) => at - (system.asked[nth]?.endedAt ?? 0))
  for (const gap of gaps) expect(gap).toBeGreaterThan(90)
  expect(Math.min(...gaps)).toBeLessThan(1000)
})

// Alone: it is about when calls arrive.
// Reliability: U28.
it('whatever asks, polls and refreshes and scans together keep to the rate', async () => {
  // A little more than is used: calls that were spaced out may arrive closer together on a busy machine.
  const shure = withoutLink(await startShure({ receivers: 30, rateLimit: { perSecond: 60, burst: 30 } }))
  const app = await startApp({ manufacturers: [entryOf(shure, { calls_per_second: 50, burst: 20 })] })
  const scan = () => app.post('/api/discover/', { scan_subnet: '10.10.0.0/28' })
  for (let turn = 0; turn < 3; turn += 1) {
    const answers = await Promise.all([app.post('/api/refresh/'), scan(), app.post('/api/refresh/')])
    for (const { status } of answers) expect([200, 409]).toContain(status)
  }
  expect(await app.receivers()).toHaveLength(30)
  expect(shure.requests.total).toBeGreaterThan(100)
  expect(shure.requests.limited).toBe(0)
})

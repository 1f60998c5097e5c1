/** Checks 5 to 9 of a plugin: failures, rate limits and aborts. */

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Fault } from '../../../simulators/show/faults.ts'
import type { PluginConfig } from '../../../src/manufacturers/plugin.ts'
import { now } from '../../../src/platform/clock.ts'
import { neverAborted } from '../../../src/platform/wait.ts'
import type { UpstreamClient } from '../../../src/upstream/client.ts'
import { createRequestThrottle } from '../../../src/upstream/request-throttle.ts'
import { timeLimit } from '../time-limit.ts'
import { callsOf, checkHealth, drain, firstEvent, listen } from './plugin-kit-calls.ts'
import { countResources, minResources, rejectionOf, until } from './plugin-kit-resources.ts'
import { serveHttp } from './plugin-kit-server.ts'
import type { PluginKit } from './plugin-kit-setup.ts'

const lateMs = 1000
const selfSigned = readFileSync(new URL('../../fixtures/self-signed.pem', import.meta.url))

/**
 * Each fault results in the manufacturer's ApiError. `message` matches the message for the operator, by default
 * `wrongShape`; `isLate`: the error is thrown only at the deadline.
 */
const failures: readonly { fault: Fault; message?: RegExp; isLate?: boolean }[] = [
  { fault: { type: 'hang' }, message: /no response .* within 1 s/, isLate: true },
  { fault: { type: 'drip' }, message: /no response .* within 1 s/, isLate: true },
  { fault: { type: 'reset' }, message: /closed before the response was complete/ },
  { fault: { type: 'status', status: 500 }, message: /responded with status 500/ },
  { fault: { type: 'html' }, message: /web page/ },
  { fault: { type: 'not-json' }, message: /not JSON/ },
  { fault: { type: 'wrong-shape' } },
  { fault: { type: 'truncated' }, message: /closed before the response was complete/ },
  { fault: { type: 'huge' }, message: /larger than/ },
  { fault: { type: 'gzip-bomb' }, message: /larger than/ },
  { fault: { type: 'deep' }, message: /nested deeper/ },
]

export function testRetryAfter({ plugin, adapter, start, connect }: PluginKit): void {
  const { ApiRateLimitError } = plugin.errors
  // Conformance: S-7.10, C-3.21.
  test.each([
    { format: 'seconds', value: () => '7', minSeconds: 7 },
    { format: 'a date', value: () => new Date(now() + 120_000).toUTCString(), minSeconds: 118 },
  ])(
    '5: 429 with $format throws its rate-limit error, and nothing is sent meanwhile',
    async ({ value, minSeconds }) => {
      const simulator = await start()
      const client = connect(simulator.config)
      simulator.setFault({ type: 'status', status: 429, headers: { 'retry-after': value() } })
      const limited = await rejectionOf(adapter.listDevices(client))
      expect(limited).toBeInstanceOf(ApiRateLimitError)
      expect(limited).toMatchObject({ status: 429, retryAfter: expect.any(Number) })
      expect((limited as InstanceType<typeof ApiRateLimitError>).retryAfter).toBeGreaterThanOrEqual(minSeconds)
      expect((limited as InstanceType<typeof ApiRateLimitError>).retryAfter).toBeLessThanOrEqual(minSeconds + 2)
      const { total } = simulator.requests
      for (const { run } of callsOf(adapter, client)) await rejectionOf(run(new AbortController().signal))
      expect(simulator.requests.total).toBe(total)
      expect(await checkHealth(adapter, client)).toMatchObject({ status: 'degraded', error: expect.any(String) })
    },
  )
}

export function describeFailures(kit: PluginKit): void {
  const { plugin, adapter, pin, wrongShape, start, startSimulator, connect, closeAfterTest } = kit
  const { ApiError } = plugin.errors
  const listens = adapter.subscribe !== undefined || adapter.follow !== undefined
  describe('6 and 7: failures throw the ApiError of the plugin, and checkHealth reports them', () => {
    const expectFailure = async (config: PluginConfig, message: RegExp) => {
      const [error, health] = await Promise.all([
        rejectionOf(adapter.listDevices(connect(config))),
        checkHealth(adapter, connect(config)),
      ])
      expect(error).toBeInstanceOf(ApiError)
      expect(error).toMatchObject({ message: expect.stringMatching(message) })
      expect(health).toEqual({ status: 'unhealthy', error: expect.stringMatching(message) })
    }

    // Conformance: S-1.6, S-7.9, S-7.10, C-3.21.
    test.each(failures)('$fault.type', async ({ fault, message = wrongShape, isLate }) => {
      const simulator = await start()
      simulator.setFault(fault)
      const startedAt = performance.now()
      if (!isLate) await expectFailure(simulator.config, message)
      else {
        await expectFailure({ ...simulator.config, timeout: lateMs / 1000 }, message)
        expect(performance.now() - startedAt).toBeLessThan(lateMs + timeLimit(500))
      }
      simulator.setFault(null)
      const client = connect(simulator.config)
      expect(await checkHealth(adapter, client)).toEqual({ status: 'healthy', error: null })
    })

    // Conformance: C-3.25.
    test('does not follow a redirect', async () => {
      let visits = 0
      const otherServer = closeAfterTest(
        await serveHttp({ onRequest: (_request, response) => response.end(String(visits++)) }),
      )
      const simulator = await start()
      simulator.setFault({ type: 'status', status: 302, headers: { location: otherServer.url } })
      await expectFailure(simulator.config, /unexpected redirect/)
      expect(visits).toBe(0)
    })

    // Conformance: S-7.9.
    test('reports a refused connection', async () => {
      const simulator = await startSimulator({ pushesPerSecond: 0 })
      await simulator.close()
      await expectFailure(simulator.config, /connection refused/)
    })

    // Conformance: S-2.24, S-5.6, S-7.9.
    test('sends no credentials with an untrusted certificate, and works with verification disabled', async () => {
      const simulator = await start({ tls: { key: selfSigned, cert: selfSigned } })
      await expectFailure({ ...simulator.config, ssl_verify: true }, /certificate .* not accepted/)
      if (listens) {
        const events = listen(adapter, connect({ ...simulator.config, ssl_verify: true }), neverAborted)
        expect(await rejectionOf(drain(events))).toBeInstanceOf(ApiError)
      }
      expect(simulator.requests.total).toBe(0)
      const unverified = connect({ ...simulator.config, ssl_verify: false })
      expect((await adapter.listDevices(unverified)).devices).toHaveLength(simulator.deviceCount)
    })

    test('trusts only the pinned certificate, and sends nothing with another one', async () => {
      const simulator = await start({ tls: { key: selfSigned, cert: selfSigned } })
      const pinned = (fingerprint: string) => connect({ ...pin(simulator.config, fingerprint), ssl_verify: true })
      const other = pinned('00'.repeat(32))
      expect(await rejectionOf(adapter.listDevices(other))).toBeInstanceOf(ApiError)
      if (listens) {
        expect(await rejectionOf(drain(listen(adapter, other, neverAborted)))).toMatchObject({
          message: expect.stringMatching(/a different certificate than the pinned one/),
        })
      }
      expect(simulator.requests.total).toBe(0)
      const client = pinned(new X509Certificate(selfSigned).fingerprint256)
      expect((await adapter.listDevices(client)).devices).toHaveLength(simulator.deviceCount)
      for await (const event of listens ? listen(adapter, client, neverAborted) : []) {
        expect(event).toMatchObject({ type: firstEvent(adapter) })
        break
      }
    })
  })
}

export function testAbort({ adapter, start, connect }: PluginKit): void {
  test('8: an abort during any call ends it at once and leaves no timer and no socket', async () => {
    const simulator = await start({ receivers: 1 })
    const client = connect(simulator.config)
    const [device] = (await adapter.listDevices(client)).devices
    for (const { name, run } of callsOf(adapter, client, device)) {
      // This count includes idle connections that the client keeps for its next request.
      const resourcesBefore = await minResources()
      const controller = new AbortController()
      simulator.setFault({ type: 'hang' })
      const { total } = simulator.requests
      const ended = rejectionOf(run(controller.signal)).then((error) => ({ error, at: performance.now() }))
      await until(() => simulator.requests.total > total)
      await pause(50)
      const abortedAt = performance.now()
      controller.abort()
      const { error, at } = await ended
      expect(at - abortedAt, `${name} ends at once`).toBeLessThan(timeLimit(600))
      const isOverSocket = ['subscribe', 'follow', 'readInstallation'].includes(name)
      if (!isOverSocket && name !== 'checkHealth') expect(error, name).toBe(controller.signal.reason)
      // A simulator that hangs during a handshake does not read, so its end of the socket stays open.
      const simulatorSockets = isOverSocket ? 1 : 0
      await until(() => countResources() <= resourcesBefore + simulatorSockets, `${name} leaves no open resources`)
      simulator.setFault(null)
      await adapter.listDevices(client)
    }
  })
}

export function testRateLimit({ adapter, limits, start, connect }: PluginKit): void {
  // A followed installation is not polled, so its requests are not limited.
  if (limits.burst === undefined) return
  // Conformance: S-8.6, S-8.7, C-3.11.
  // Reliability: U28.
  test('9: stays within the declared rate limit under load, with several clients', async () => {
    const rateLimit = { perSecond: 30, burst: 15 }
    // Requests may arrive up to `jitterMs` closer together than they were sent.
    const jitterMs = 300
    const burst = rateLimit.burst + (rateLimit.perSecond * jitterMs) / 1000
    const simulator = await start({ rateLimit: { ...rateLimit, burst } })
    const config = { ...simulator.config, calls_per_second: rateLimit.perSecond, burst: rateLimit.burst }
    const throttle = createRequestThrottle()
    const clients = [connect(config, throttle), connect(config, throttle)]
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => adapter.listDevices(clients[index % 2] as UpstreamClient)),
    )
    const times = simulator.requests.entries.map((entry) => entry.at)
    expect(times.length).toBeGreaterThanOrEqual(60)
    expect(simulator.requests.limited).toBe(0)
    for (const [first, from] of times.entries()) {
      for (const [count, to] of times.slice(first).entries()) {
        const allowed = ((to - from + jitterMs) / 1000) * rateLimit.perSecond + rateLimit.burst
        expect(count + 1).toBeLessThanOrEqual(allowed)
      }
    }
  })
}

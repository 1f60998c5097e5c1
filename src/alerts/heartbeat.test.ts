import { pino } from 'pino'
import { expect, test } from 'vitest'
import { until } from '../../test/support/app.ts'
import { onTestEnd } from '../../test/support/cleanup.ts'
import { startWebhookReceiver, type WebhookResponse } from '../../test/support/notifications/webhook-receiver.ts'
import { now } from '../platform/clock.ts'
import { createDestinations } from '../upstream/destinations.ts'
import { createRequestThrottle } from '../upstream/request-throttle.ts'
import { Heartbeat } from './heartbeat.ts'

/** Runs a heartbeat every 10 ms, to a switch that gives these responses and then 200. */
async function startHeartbeat(monitor: { isMoving: boolean }, responses: WebhookResponse[] = []) {
  const receiver = await startWebhookReceiver(responses, 200)
  const url = `${receiver.url}/6f1f9f5c-0000-4000-8000-3b1d0a7c0e55`
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) })
  const outbound = { throttle: createRequestThrottle(), destinations: createDestinations() }
  const heartbeat = new Heartbeat({ url, interval: 0.01 }, { monitor, outbound, log })
  const lifetime = new AbortController()
  const ended = heartbeat.run(lifetime.signal)
  const stop = () => {
    lifetime.abort()
    return ended
  }
  onTestEnd(stop)
  return { heartbeat, received: receiver.received, lines, stop }
}

// Conformance: C-26.23.
test('Heartbeat sends while polling moves, stops while it does not, and continues afterwards', async () => {
  const monitor = { isMoving: true }
  const { heartbeat, received, lines, stop } = await startHeartbeat(monitor)
  await until('it beats', () => received.length > 1)
  monitor.isMoving = false
  await until('it names the problem', () => heartbeat.problem === 'Heartbeat: polling does not move.')
  const count = received.length
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(received).toHaveLength(count)
  monitor.isMoving = true
  await until('it beats again', () => received.length > count)
  await until('the problem is gone', () => heartbeat.problem === null)
  expect(heartbeat.acceptedAt).toBeGreaterThan(now() - 60_000)
  expect(lines).toHaveLength(1)
  await stop()
})

// Conformance: C-26.23.
test('Heartbeat names a failure in health and the log without its address, and tries again', async () => {
  const { heartbeat, received, lines } = await startHeartbeat({ isMoving: true }, [404, 404, 'hang'])
  await until('it names the status', () => heartbeat.problem?.includes('responded with status 404') === true)
  expect(heartbeat.acceptedAt).toBeNull()
  await until('it tries again', () => received.length === 3)
  expect(lines).toHaveLength(1)
  expect(`${lines[0]} ${heartbeat.problem}`).not.toContain('6f1f9f5c')
})

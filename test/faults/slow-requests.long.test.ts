/** Clients that send a request too slowly are disconnected, and other clients are not affected. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { watchHealth } from '../../bench/health-watch.ts'
import { createInstallation, until } from '../support/app.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { openSilent } from '../support/faults/silent-socket.ts'
import { timeLimit } from '../support/time-limit.ts'

/** The longest time that a liveness check may take, whatever other clients do. */
const limitMs = timeLimit(500)

describe('slow connections', () => {
  // Reliability: 1.20, C6, 3.12.3.
  it('are closed when the head takes 10 s or the request 30 s, while others are served at once', {
    timeout: 90_000,
  }, async () => {
    const installation = await createInstallation()
    const service = await installation.serve(['--no-poll'])
    const startedAt = performance.now()
    const open = (count: number) => Promise.all(Array.from({ length: count }, () => openSilent(service.port)))
    const [silent, incompleteHeads, slowHeads, incompleteBodies] = [
      await open(50),
      await open(50),
      await open(50),
      await open(10),
    ]
    for (const { socket } of [...incompleteHeads, ...slowHeads])
      socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n')
    const drip = setInterval(() => {
      for (const { socket } of slowHeads) socket.write('x')
    }, 500)
    onTestFinished(() => clearInterval(drip))
    const head =
      'POST /api/group/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'
    for (const { socket } of incompleteBodies) socket.write(head)

    const health = watchHealth(service.port)
    onTestEnd(() => health.close())
    await until(
      'connections without a head are closed',
      () => [...incompleteHeads, ...slowHeads, ...silent].every((client) => client.closedAt() > 0),
      40_000,
    )
    const durations = [...incompleteHeads, ...slowHeads, ...silent].map((client) => client.closedAt() - startedAt)
    expect(Math.min(...durations)).toBeGreaterThan(9000)
    expect(Math.max(...durations)).toBeLessThan(timeLimit(15_000))
    for (const { received } of incompleteHeads) expect(received()).toContain('HTTP/1.1 408')
    expect(incompleteBodies.every((body) => body.closedAt() === 0)).toBe(true)
    await until(
      'connections without a body are closed',
      () => incompleteBodies.every((body) => body.closedAt() > 0),
      40_000,
    )
    for (const { received } of incompleteBodies) expect(received()).toContain('HTTP/1.1 408')
    expect(Math.max(...(await health.end()))).toBeLessThan(limitMs)
  })
})

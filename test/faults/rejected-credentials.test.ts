/**
 * A system that rejected the credentials is not polled for a minute. The pause ends early if a subscription connects,
 * because this shows that the system accepts the credentials again.
 */

import { expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import { startApp, until } from '../support/app.ts'
import { acceptUpgrade, device, respondError, respondJson, startSystem } from '../support/faults/system.ts'

// Reliability: U31.
it('a subscription that connects ends the pause after a 403', async () => {
  const sockets: WebSocket[] = []
  const system = await startSystem(
    respondJson({ devices: [device(1)] }),
    acceptUpgrade((socket) => sockets.push(socket)),
  )
  const app = await startApp({ manufacturers: [system.entry('shure')] })
  await until('the subscription is connected', () => sockets.length === 1)
  const readShure = async () => (await app.get('/api/health/')).json.manufacturers[0]

  system.respondWith(respondError(403))
  await until('a poll is rejected', async () => /access is disabled/.test((await readShure()).error ?? ''))
  const requestsBefore = system.requests.length
  system.respondWith(respondJson({ devices: [device(1)] }))
  sockets[0]?.terminate()
  await until('the subscription is connected again', () => sockets.length === 2, 15_000)
  await until('the system is polled again', () => system.requests.length > requestsBefore, 15_000)
  await until('the status is healthy again', async () => (await readShure()).status === 'healthy')
  expect((await readShure()).consecutive_failures).toBe(0)
})

import { expect, it } from 'vitest'
import { configFor, startApp, startShure } from './support/app.ts'
import { startWebhookReceiver } from './support/notifications/webhook-receiver.ts'

// Conformance: C-26.23.
it.concurrent('a service that polls sends heartbeats, and one that only serves does not', async () => {
  const simulator = await startShure()
  const start = async (servesOnly: boolean) => {
    const receiver = await startWebhookReceiver([], 200)
    const heartbeat = { url: receiver.url, interval: 12 }
    await startApp({ manufacturers: [configFor(simulator)], servesOnly, config: { heartbeat } })
    return receiver
  }
  const [polls, serves] = [await start(false), await start(true)]
  await polls.waitFor(2)
  expect(serves.received).toEqual([])
})

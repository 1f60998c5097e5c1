/** Sources whose last polling process has ended. */

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { configFor, startApp, startShure, until } from './support/app.ts'
import { heldSources } from './support/internals.ts'
import { engines } from './support/store/databases.ts'

describe.concurrent.each(engines)('sources on %s', (engine) => {
  it('without a polling process are unhealthy without an error, but not while another process takes over', async () => {
    const shure = await startShure()
    const screen = await startApp({ manufacturers: [configFor(shure)], engine, servesOnly: true })
    const sharedStore = { databaseUrl: screen.databaseUrl, dataDir: screen.dataDir }
    const socket = await screen.socket()
    const [first, second] = [await startApp(sharedStore), await startApp(sharedStore)]
    await until('the system is polled', async () => (await screen.receivers()).length === 2)
    await first.close()
    await until('the other process polls', async () => (await heldSources(second)).length === 1)
    await socket.next(({ about, status }) => about === 'upstream' && status === 'healthy')
    await pause(5_000)
    const statusUpdates = socket.ofType('status_update').filter(({ about }) => about === 'upstream')
    expect(statusUpdates.map(({ status }) => status)).toEqual(['healthy'])
    await second.close()
    const message = await socket.next(({ about, status }) => about === 'upstream' && status === 'unhealthy', 60_000)
    expect(message.message).toContain('no process polls it')
    const { status, manufacturers } = (await screen.get('/api/health/')).json
    expect(status).toBe('degraded')
    expect(manufacturers).toMatchObject([
      { status: 'unhealthy', consecutive_failures: 0, error: expect.stringContaining('--no-poll') },
    ])
    await startApp(sharedStore)
    await until('the status is healthy again', async () => (await screen.get('/api/health/')).json.status === 'healthy')
  })
})

/** When the data of a system that no longer lists its devices become stale. */

import { describe, expect, it } from 'vitest'
import { configFor, startApp, startShure, until } from './support/app.ts'

/**
 * Makes a system stop responding. Returns the states of a channel in the order in which they were announced, until the
 * receiver is offline.
 */
async function statesUntilOffline({ keepsWebSocket }: { readonly keepsWebSocket: boolean }) {
  const system = await startShure({ receivers: 1, channelsPerReceiver: 1, pushesPerSecond: 0 })
  const app = await startApp({ manufacturers: [configFor(system)] })
  await until('the subscription is connected', () => system.push.connections === 1)
  const socket = await app.socket()
  const states = () =>
    socket
      .ofType('device_update')
      .flatMap(({ data }) => data.channels.map(({ condition }: { condition: { state: string } }) => condition.state))
  await until('the channel is current', async () => (await app.receivers())[0]?.channels[0]?.condition?.state === 'ok')
  if (!keepsWebSocket) system.setFault({ type: 'close-connections' })
  system.setFault({ type: 'hang' })
  await until('the receiver is offline', () => states().includes('receiver_offline'), 100_000)
  return states()
}

describe.concurrent('a channel whose system no longer lists its receiver', () => {
  // Conformance: C-10.15.
  it('is not stale while the system answers pings', async () => {
    expect(await statesUntilOffline({ keepsWebSocket: true })).not.toContain('stale')
  })

  it('is stale before its receiver is offline if the system sends nothing', async () => {
    expect(await statesUntilOffline({ keepsWebSocket: false })).toContain('stale')
  })
})

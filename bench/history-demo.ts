/** Measures the time until the history of the demo contains the last hour, and the day before its start. */

import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor, withCleanup } from './harness.ts'
import { startDemo } from './servers.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
/** More frequent requests would slow the demo down, and exceed its limit. */
const askEveryMs = 250
/** The limit of one request. The demo has a few more channels, which it finds within seconds. */
const askedChannels = 100

/** Returns milliseconds from the start of the demo's process. */
export function measureDemo(): Promise<{ readonly hourMs: number; readonly dayMs: number }> {
  return withCleanup(async (atEnd) => {
    const startedAt = { clock: Date.now(), timer: performance.now() }
    const { address } = await startDemo(atEnd)
    let ids: readonly number[] = []
    await waitFor('the demo shows its channels', async () => {
      await sleep(askEveryMs)
      const { receivers } = (await read(`${address}/api/data.json`)) as Data
      ids = receivers.flatMap(({ channels }) => channels.map(({ id }) => id)).slice(0, askedChannels)
      return ids.length === askedChannels
    })
    const wait = async (lengthMs: number) => {
      await waitFor(
        `the demo has the last ${lengthMs / hourMs} h`,
        () => isFilled(`${address}/api/history/levels/?channels=${ids.join(',')}`, startedAt.clock, lengthMs),
        2 * 60_000,
      )
      return performance.now() - startedAt.timer
    }
    return { hourMs: await wait(hourMs), dayMs: await wait(dayMs) }
  })
}

interface Data {
  readonly receivers: readonly { readonly channels: readonly { readonly id: number }[] }[]
}

interface Levels {
  readonly channels: readonly { readonly state: string }[]
}

/** True if every step of every channel is recorded. */
async function isFilled(address: string, until: number, lengthMs: number): Promise<boolean> {
  await sleep(askEveryMs)
  // The steps of the day begin at its first whole second.
  const range = [until - lengthMs + 60_000, until].map((time) => new Date(Math.floor(time / 1000) * 1000).toISOString())
  const levels = (await read(`${address}&from=${range[0]}&to=${range[1]}&max_points=144&series=rf`)) as Levels
  return levels.channels.every(({ state }) => !state.includes('-'))
}

async function read(address: string): Promise<unknown> {
  const response = await fetch(address)
  if (!response.ok) throw new Error(`GET ${address} returned ${response.status}: ${await response.text()}`)
  return response.json()
}

/** How long the demo takes until its history contains the last hour, and the day before its start. */

import { waitFor, withCleanup } from './harness.ts'
import { startDemo } from './servers.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000

/** Returns milliseconds from the start of the demo's process. */
export function measureDemo(): Promise<{ readonly hourMs: number; readonly dayMs: number }> {
  return withCleanup(async (atEnd) => {
    const startedAt = { clock: Date.now(), timer: performance.now() }
    const { address } = await startDemo(atEnd)
    const wait = async (lengthMs: number) => {
      await waitFor(
        `the demo has the last ${lengthMs / hourMs} h`,
        () => isFilled(address, startedAt.clock, lengthMs),
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

/** Whether every step of every channel is recorded. */
async function isFilled(address: string, until: number, lengthMs: number): Promise<boolean> {
  const read = async (path: string) => (await fetch(`${address}/api/${path}`)).json()
  const data = (await read('data.json')) as Data
  const ids = data.receivers.flatMap(({ channels }) => channels.map(({ id }) => id)).slice(0, 100)
  // The first steps of the day are filled from its first whole second on.
  const range = [until - lengthMs + 60_000, until].map((time) => new Date(Math.floor(time / 1000) * 1000).toISOString())
  const query = `channels=${ids.join(',')}&from=${range[0]}&to=${range[1]}&max_points=144&series=rf`
  const levels = (await read(`history/levels/?${query}`)) as {
    readonly channels?: readonly { readonly state: string }[]
  }
  return levels.channels?.every(({ state }) => !state.includes('-')) ?? false
}

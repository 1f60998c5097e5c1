/** Recorded levels of channels of sites. */

import { isDeepStrictEqual } from 'node:util'
import { now } from '../../src/platform/clock.ts'
import { type TestApp, until } from './app.ts'

/** Epoch seconds; `to` is exclusive. */
export interface Range {
  readonly from: number
  readonly to: number
}

export const epochSeconds = () => Math.floor(now() / 1000)

/** Returns the recorded levels of all channels, in the order of their names, in steps of one second. */
export async function levelsOf(app: Pick<TestApp, 'receivers' | 'get'>, { from, to }: Range) {
  const channels = (await app.receivers()).flatMap((receiver) => receiver.channels)
  const ids = channels.toSorted((a, b) => (String(a.name) < String(b.name) ? -1 : 1)).map(({ id }) => id)
  const query = new URLSearchParams({
    channels: ids.join(),
    from: new Date(from * 1000).toISOString(),
    to: new Date(to * 1000).toISOString(),
    max_points: String(to - from),
  })
  const { status, json } = await app.get(`/api/history/levels/?${query}`)
  if (status !== 200) throw new Error(`history responded with ${status}: ${JSON.stringify(json)}`)
  return json as { readonly channels: readonly { readonly state: string }[]; readonly interrupted_sites?: unknown }
}

type Levels = Awaited<ReturnType<typeof levelsOf>>

/** Returns the levels without what differs between installations. */
export function comparable({ channels }: Levels) {
  return channels.map((channel) => ({ ...channel, id: 0 }))
}

/** Waits until the seconds that have just passed are recorded. Returns when they ended. */
export function untilRecording(app: Parameters<typeof levelsOf>[0]): Promise<number> {
  return until('all channels are recorded', async () => {
    const to = epochSeconds() - 3
    const { channels } = await levelsOf(app, { from: to - 3, to })
    return channels.length > 0 && channels.every(({ state }) => !state.includes('-')) && to
  })
}

/** Waits until both installations return the same levels. Their ranges must have been recorded. */
export async function untilSame(
  a: Parameters<typeof levelsOf>[0],
  b: Parameters<typeof levelsOf>[0],
  range: Range,
): Promise<void> {
  await until('both have the same levels', async () => {
    const [levelsA, levelsB] = [await levelsOf(a, range), await levelsOf(b, range)]
    return isDeepStrictEqual(comparable(levelsA), comparable(levelsB))
  })
}

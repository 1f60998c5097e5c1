/**
 * Which levels of an SSC 2 device have arrived since the last report. Its resources are kept, and each level is reported
 * once. A level that does not change is not sent again, so one is queried at a time, and an answer confirms all others.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { ChannelReading, DeviceReport } from '../../../domain/equipment/receiver.ts'
import { type LevelKind, levelKinds, queryLevelsEveryMs } from '../../../domain/levels/level-delivery.ts'
import { withoutLevels } from '../../../domain/levels/level-sample.ts'
import type { UpstreamClient } from '../../../upstream/client.ts'
import { ApiError } from '../../../upstream/errors.ts'
import type { Family, LevelsInBody } from './family.ts'

export interface NewLevels {
  readonly queries: readonly string[]
  received(path: string, body: unknown): void
  /** The device has not answered the query. What it asked for is no longer confirmed by other answers. */
  unanswered(path: string): void
  /** The device has answered a query. */
  answered(): void
  /** Returns the report with the levels that have arrived since the last call. */
  takeNew(report: DeviceReport): DeviceReport
}

export function createNewLevels(family: Family | null): NewLevels {
  const fresh = new Set<string>()
  const silent = new Set<string>()
  const queries = family?.levelQueries ?? []
  const keyOf = ({ channel, kind }: LevelsInBody) => `${channel ?? 'all'} ${kind}`
  const asked = new Map(
    queries.map((path) => [path, family?.findLevels(path, { rssi: null }) ?? { channel: null, kind: 'rf' as const }]),
  )
  const isOld = ({ channel, rf_level, audio_level }: ChannelReading, kind: LevelKind) =>
    (kind === 'rf' ? rf_level : audio_level) !== null &&
    !fresh.has(keyOf({ channel, kind })) &&
    !fresh.has(keyOf({ channel: null, kind }))

  return {
    queries,
    received(path, body) {
      const levels = family?.findLevels(path, body) ?? null
      if (levels === null) return
      fresh.add(keyOf(levels))
      silent.delete(keyOf(levels))
    },
    unanswered(path) {
      const levels = asked.get(path)
      if (levels !== undefined) silent.add(keyOf(levels))
    },
    answered() {
      for (const levels of asked.values()) if (!silent.has(keyOf(levels))) fresh.add(keyOf(levels))
    },
    takeNew(report) {
      const channels = report.channels?.map((reading) =>
        withoutLevels(
          reading,
          levelKinds.filter((kind) => isOld(reading, kind)),
        ),
      )
      fresh.clear()
      return { ...report, channels }
    },
  }
}

/** Queries one level at a time, and yields each answer in the form of an event. */
export async function* queryLevels(client: UpstreamClient, levels: NewLevels, signal: AbortSignal) {
  for (let index = 0; levels.queries.length > 0; index += 1) {
    const isAborted = await sleep(queryLevelsEveryMs, false, { signal }).catch(() => true)
    if (isAborted) return
    const path = levels.queries[index % levels.queries.length] ?? ''
    const body = await readLevel(client, path, signal)
    if (body === null) levels.unanswered(path)
    else yield { event: 'answer', data: JSON.stringify({ [path]: body }) }
  }
}

/**
 * Returns null if the device does not answer. Throws if it rejects the credentials, because devices lock access after a
 * few attempts.
 */
async function readLevel(client: UpstreamClient, path: string, signal: AbortSignal): Promise<unknown> {
  try {
    const { status, body } = await client.request('GET', path, { signal, accept: [404, 422] })
    return status < 300 ? body : null
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) throw error
    return null
  }
}

/**
 * Tracks the levels of an SSC 2 device that have arrived since the last report, because each level is reported once. A
 * level that does not change is not sent again, so one is queried at a time, and an answer confirms all others.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { ChannelReading, DeviceReport } from '../../../domain/equipment/receiver.ts'
import { type LevelKind, levelKinds, queryLevelsEveryMs, withoutLevels } from '../../../domain/levels/level-sample.ts'
import type { UpstreamClient } from '../../../upstream/client.ts'
import { ApiError } from '../../../upstream/errors.ts'
import type { Family, LevelsInBody } from './family.ts'
import type { Resources } from './resources.ts'

/** The time limit for the answer to a query. */
const answerMs = 3_000

export interface NewLevels {
  /**
   * Returns the path of the level that has not arrived or been queried for the longest time. With `isAnswered`, skips
   * queries that the device has not answered. Returns null if none remains.
   */
  takeQuery(options: { readonly isAnswered: boolean }): string | null
  /** `resources` contain the body already. */
  received(path: string, body: unknown, resources: Resources): void
  /** The device has not answered the query. Other answers no longer confirm its level. */
  unanswered(path: string): void
  answered(): void
  /** Returns the report with the levels that have arrived since the last call. */
  takeNew(report: DeviceReport): DeviceReport
}

export function createNewLevels(family: Family | null): NewLevels {
  const fresh = new Set<string>()
  const silent = new Set<string>()
  /** Path of a level -> when it last arrived or was queried. */
  const times = new Map((family?.levelQueries ?? []).map((path) => [path, Number.NEGATIVE_INFINITY]))
  const keyOf = ({ channel, kind }: LevelsInBody) => `${channel ?? 'all'} ${kind}`
  const isOld = ({ channel, rf_level, audio_level }: ChannelReading, kind: LevelKind) =>
    (kind === 'rf' ? rf_level : audio_level) !== null &&
    !fresh.has(keyOf({ channel, kind })) &&
    !fresh.has(keyOf({ channel: null, kind }))

  return {
    takeQuery({ isAnswered }) {
      const candidates = [...times].filter(([path]) => !isAnswered || !silent.has(path))
      const [oldest] = candidates.sort(([, a], [, b]) => a - b)
      if (oldest === undefined) return null
      times.set(oldest[0], performance.now())
      return oldest[0]
    },
    received(path, body, resources) {
      for (const levels of family?.findLevels(path, body, resources) ?? []) fresh.add(keyOf(levels))
      silent.delete(path)
      if (times.has(path)) times.set(path, performance.now())
    },
    unanswered(path) {
      silent.add(path)
    },
    answered() {
      for (const path of times.keys()) {
        // Without a body, these are the levels that only this path contains.
        if (!silent.has(path))
          for (const levels of family?.findLevels(path, undefined, new Map()) ?? []) fresh.add(keyOf(levels))
      }
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

/**
 * Queries one level at a time, and yields each answer as an event. If the device does not answer, querying another
 * level shows whether it still answers at all.
 */
export async function* queryLevels(client: UpstreamClient, levels: NewLevels, signal: AbortSignal) {
  for (;;) {
    const isAborted = await sleep(queryLevelsEveryMs, false, { signal }).catch(() => true)
    if (isAborted) return
    for (const isAnswered of [false, true]) {
      const path = levels.takeQuery({ isAnswered })
      const body = path === null ? null : await readLevel(client, path, signal)
      if (signal.aborted || path === null) break
      if (body === null) levels.unanswered(path)
      else {
        yield { event: 'answer', data: JSON.stringify({ [path]: body }) }
        break
      }
    }
  }
}

/**
 * Returns null if the device does not answer. Throws if it rejects the credentials, because devices lock access after a
 * few attempts.
 */
async function readLevel(client: UpstreamClient, path: string, signal: AbortSignal): Promise<unknown> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), answerMs)
  try {
    const { status, body } = await client.request('GET', path, {
      signal: AbortSignal.any([signal, late.signal]),
      accept: [404, 422],
    })
    return status < 300 ? body : null
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) throw error
    return null
  } finally {
    clearTimeout(timer)
  }
}

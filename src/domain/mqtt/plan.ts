/** Decides which retained MQTT messages must be published. */

import type { RetainedMessage } from './messages.ts'

/** The last publication to a topic. `at` uses the same clock as `now`. */
export interface Published {
  readonly facts: readonly unknown[]
  readonly levels: readonly unknown[]
  readonly at: number
}

/** A change of levels alone is published this long after the last publication. */
const levelIntervalMs = 1_000

/** Differs from every message. */
export const unknownContent: Published = { facts: [], levels: [], at: 0 }

export function isDue(last: Published | undefined, { facts, levels }: RetainedMessage, now: number): boolean {
  if (last === undefined || !isSame(last.facts, facts)) return true
  return now - last.at >= levelIntervalMs && !isSame(last.levels, levels)
}

function isSame(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.length === after.length && before.every((value, index) => value === after[index])
}

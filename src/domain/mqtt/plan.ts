/** Decides which retained MQTT messages are due, from what the broker retains and what it is to retain. */

import type { RetainedMessage } from './messages.ts'

/** What was last published to a topic. `at` is a time of the same clock as `now`. */
export interface Published {
  readonly facts: readonly unknown[]
  readonly levels: readonly unknown[]
  readonly at: number
}

/** A change of levels alone is published this long after the last publication. */
const levelIntervalMs = 1_000

/** Stands for a message of unknown content, which differs from every message that may be wanted. */
export const unknownContent: Published = { facts: [], levels: [], at: 0 }

/** Whether the message is to be published now. */
export function isDue(last: Published | undefined, { facts, levels }: RetainedMessage, now: number): boolean {
  if (last === undefined || !isSame(last.facts, facts)) return true
  return now - last.at >= levelIntervalMs && !isSame(last.levels, levels)
}

function isSame(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.length === after.length && before.every((value, index) => value === after[index])
}

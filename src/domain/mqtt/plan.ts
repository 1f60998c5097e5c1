/** Decides which retained MQTT messages are due, from what the broker retains and what it is to retain. */

import type { RetainedMessage } from './messages.ts'

/** What was last published to a topic. `at` is a time of the same clock as `now`. */
export interface Published {
  readonly payload: string
  readonly facts: string
  readonly at: number
}

export interface Publication {
  readonly topic: string
  /** Empty to remove what is retained. */
  readonly payload: string
}

/** A change of levels alone is published this long after the last publication. */
const levelIntervalMs = 1_000

/** Returns what is to be published now, at most `limit` messages, and what will be retained then. */
export function planPublications(
  published: ReadonlyMap<string, Published>,
  wanted: readonly RetainedMessage[],
  { now, limit }: { readonly now: number; readonly limit: number },
): { readonly publications: readonly Publication[]; readonly published: ReadonlyMap<string, Published> } {
  const publications: Publication[] = []
  const next = new Map<string, Published>()
  for (const { topic, payload, facts } of wanted) {
    const last = published.get(topic)
    const isChanged = last === undefined || last.facts !== facts
    const areLevelsDue = last !== undefined && last.payload !== payload && now - last.at >= levelIntervalMs
    if ((isChanged || areLevelsDue) && publications.length < limit) {
      publications.push({ topic, payload })
      next.set(topic, { payload, facts, at: now })
    } else if (last !== undefined) next.set(topic, last)
  }
  const topics = new Set(wanted.map(({ topic }) => topic))
  for (const [topic, last] of published) {
    if (topics.has(topic)) continue
    if (publications.length < limit) publications.push({ topic, payload: '' })
    else next.set(topic, last)
  }
  return { publications, published: next }
}

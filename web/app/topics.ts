/** Announces the types of live messages, so that lists that were read over REST can be read again. */

import type { LiveMessage } from '../../src/contract/live-messages.ts'

/** The types of messages after which a list may have changed. */
export type Topic = LiveMessage['type']

export interface Topics {
  publish(topic: Topic): void
  subscribe(listener: (topic: Topic) => void): () => void
}

export function createTopics(): Topics {
  const listeners = new Set<(topic: Topic) => void>()
  return {
    publish(topic) {
      for (const listener of listeners) listener(topic)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

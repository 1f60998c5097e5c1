/** Announces which kinds of records have changed, so that pages reload what they show. */

import type { LiveMessage } from '../src/contract/live-messages.ts'

/** The types of messages after which a list may have changed. */
export type Topic = LiveMessage['type']

export interface Topics {
  publish(topic: Topic): void
  /** Calls the listener after messages of these types, and whenever a connection begins with a snapshot or resumes. */
  subscribe(topics: readonly Topic[], listener: () => void): () => void
}

const connectionTopics: readonly Topic[] = ['snapshot', 'resumed']

export function createTopics(): Topics {
  const listeners = new Map<() => void, readonly Topic[]>()
  return {
    publish(topic) {
      for (const [listener, topics] of listeners) if (topics.includes(topic)) listener()
    },
    subscribe(topics, listener) {
      const call = () => listener()
      listeners.set(call, [...topics, ...connectionTopics])
      return () => listeners.delete(call)
    },
  }
}

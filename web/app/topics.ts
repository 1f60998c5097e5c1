import type { LiveMessage } from '../../src/contract/live-messages.ts'

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

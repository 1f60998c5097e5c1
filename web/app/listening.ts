/** The connection of cards to the player. `web/listen/` is loaded only for users with the permission `listen`. */

import { createContext, useContext, useSyncExternalStore } from 'react'

/** A channel of an audio stream, whether or not a channel is mapped to it. */
export interface StreamSound {
  readonly streamId: number
  /** Starts at 1. */
  readonly channel: number
  readonly name: string
}

/** The player, once it is loaded. */
export interface ListeningPlayer {
  readonly mapped: ReadonlySet<number>
  /** The channel whose sound is played or requested. */
  readonly channelId: number | null
  readonly stream: StreamSound | null
  /** Begins to play the channel, or stops it. */
  toggle(channelId: number): void
  toggleStream(stream: StreamSound): void
}

class ListeningStore {
  #player: ListeningPlayer | null = null
  readonly #listeners = new Set<() => void>()

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly get = (): ListeningPlayer | null => this.#player

  set(player: ListeningPlayer | null): void {
    this.#player = player
    for (const listener of this.#listeners) listener()
  }
}

export function isSameSound(a: StreamSound | null, b: StreamSound): boolean {
  return a?.streamId === b.streamId && a.channel === b.channel
}

export const ListeningContext = createContext(new ListeningStore())

export function useListening<Piece>(select: (player: ListeningPlayer | null) => Piece): Piece {
  const store = useContext(ListeningContext)
  return useSyncExternalStore(store.subscribe, () => select(store.get()))
}

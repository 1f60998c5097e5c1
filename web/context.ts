/** How views reach what main.tsx has made: the store and the painter; and the narrow readers over them. */

import { createContext, useContext, useSyncExternalStore } from 'react'
import type { Alarm } from './alarm.ts'
import type { Api } from './api.ts'
import type { ChannelFacts } from './channel-state.ts'
import type { History } from './history.ts'
import type { Painter } from './painter.ts'
import type { House } from './state.ts'
import type { Store } from './store.ts'

export interface Surroundings {
  readonly mount: string
  readonly api: Api
  readonly store: Store
  readonly painter: Painter
  /** The last minute of every channel. */
  readonly history: History
  readonly alarm: Alarm
  /** The filter of this page; null shows all. */
  readonly manufacturer: string | null
  /** Ask for the full picture again, now. */
  retry(): void
  /** Ask again who wears what. */
  rereadWearers(): void
}

export const SurroundingsContext = createContext<Surroundings | null>(null)

export function useSurroundings(): Surroundings {
  const surroundings = useContext(SurroundingsContext)
  if (surroundings === null) throw new Error('Views need the surroundings main.tsx gives them.')
  return surroundings
}

/** A piece of the house; what `select` gives must be the same value as long as nothing about it changed. */
export function useHouse<Piece>(select: (runtime: House) => Piece): Piece {
  const { store } = useSurroundings()
  return useSyncExternalStore(store.subscribe, () => select(store.get()))
}

export function useFacts(receiverId: number, channelId: number): ChannelFacts | null {
  const { store } = useSurroundings()
  return useSyncExternalStore(store.subscribe, () => store.facts(receiverId, channelId))
}

/** Which rows of a list are meant. What is not shown any more is not meant any more. */

import { useState } from 'react'

export interface Selection {
  /** In the order in which they are shown. */
  readonly ids: readonly number[]
  readonly shown: number
  has(id: number): boolean
  toggle(id: number): void
  /** All of them, or none if it is all already. */
  toggleAll(): void
  clear(): void
}

export function useSelection(shown: readonly number[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set())
  const ids = shown.filter((id) => chosen.has(id))
  return {
    ids,
    shown: shown.length,
    has: (id) => chosen.has(id),
    toggle: (id) => setChosen(new Set(chosen.has(id) ? ids.filter((one) => one !== id) : [...ids, id])),
    toggleAll: () => setChosen(new Set(ids.length === shown.length ? [] : shown)),
    clear: () => setChosen(new Set()),
  }
}

/** Selected rows of a list. Rows that are no longer displayed are not selected. */

import { useState } from 'react'

export interface Selection {
  /** The ids of the selected rows, in display order. */
  readonly ids: readonly number[]
  readonly shown: number
  has(id: number): boolean
  toggle(id: number): void
  /** Selects all rows, or none if all are selected. */
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
    toggle: (id) => setChosen(new Set(chosen.has(id) ? ids.filter((item) => item !== id) : [...ids, id])),
    toggleAll: () => setChosen(new Set(ids.length === shown.length ? [] : shown)),
    clear: () => setChosen(new Set()),
  }
}

/** Rows that are no longer displayed are not selected. */

import { useState } from 'react'

export interface Selection<Id extends number | string = number> {
  readonly ids: readonly Id[]
  readonly shown: number
  has(id: Id): boolean
  toggle(id: Id): void
  toggleAll(): void
  clear(): void
}

export function useSelection<Id extends number | string>(shown: readonly Id[]): Selection<Id> {
  const [chosen, setChosen] = useState<ReadonlySet<Id>>(new Set())
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

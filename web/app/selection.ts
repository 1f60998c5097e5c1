/** Rows that are no longer displayed are not selected. */

import { useRef, useState } from 'react'

export interface Selection<Id extends number | string = number> {
  readonly ids: readonly Id[]
  readonly shown: number
  has(id: Id): boolean
  toggle(id: Id): void
  /** Sets all rows from the last one toggled to this one, in this order. */
  toggleTo(id: Id, order: readonly Id[]): void
  /** Adds these if any is not selected, otherwise removes them. */
  toggleEach(ids: readonly Id[]): void
  toggleAll(): void
  clear(): void
}

export function useSelection<Id extends number | string>(shown: readonly Id[]): Selection<Id> {
  const [chosen, setChosen] = useState<ReadonlySet<Id>>(new Set())
  const last = useRef<Id | null>(null)
  const ids = shown.filter((id) => chosen.has(id))
  const set = (changed: readonly Id[], isSelected: boolean) => {
    const others = ids.filter((id) => !changed.includes(id))
    setChosen(new Set(isSelected ? [...others, ...changed] : others))
  }
  const toggleTo = (id: Id, order: readonly Id[]) => {
    set(rangeOf(order, last.current, id), !chosen.has(id))
    last.current = id
  }
  return {
    ids,
    shown: shown.length,
    has: (id) => chosen.has(id),
    toggle: (id) => toggleTo(id, []),
    toggleTo,
    toggleEach: (changed) => set(changed, !changed.every((id) => chosen.has(id))),
    toggleAll: () => setChosen(new Set(ids.length === shown.length ? [] : shown)),
    clear: () => setChosen(new Set()),
  }
}

/** Returns only `to` if `from` is not shown. */
function rangeOf<Id>(order: readonly Id[], from: Id | null, to: Id): readonly Id[] {
  const ends = [order.indexOf(from as Id), order.indexOf(to)]
  if (from === null || ends.includes(-1)) return [to]
  return order.slice(Math.min(...ends), Math.max(...ends) + 1)
}

import { useMemo, useRef } from 'react'
import type { View } from '../app/view.ts'
import { decodeSlots, type VisibleSlot } from '../parts/channels/visible-slots.ts'

/**
 * A slot that becomes empty keeps its place until the view changes, so that no other tile moves. A group has a place
 * for each of its slots anyway, and a filter hides on purpose.
 */
export function useKeptSlots(text: string, view: View): readonly VisibleSlot[] {
  const { group, manufacturer, site, q, state } = view
  const key = group === null && q === '' && state === 'all' ? JSON.stringify([manufacturer, site]) : null
  const kept = useRef({ key, slots: new Set<number>() })
  return useMemo(() => {
    if (kept.current.key !== key) kept.current = { key, slots: new Set() }
    const entries = decodeSlots(text)
    if (key === null) return entries
    const { slots } = kept.current
    const free = new Set(slots)
    for (const { slot } of entries) {
      slots.add(slot)
      free.delete(slot)
    }
    if (free.size === 0) return entries
    const gone = [...free].map((slot): VisibleSlot => ({ kind: 'spacer', slot }))
    return [...entries, ...gone].sort((a, b) => a.slot - b.slot)
  }, [text, key])
}

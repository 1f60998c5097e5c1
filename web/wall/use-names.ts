/** Widths of the names in em, in the font of the names. */

import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { type ConditionState, isException } from '../app/conditions.ts'
import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { memoize } from '../app/memoize.ts'
import type { VisibleSlot } from '../parts/channels/visible-slots.ts'

type Measure = (text: string) => number

/** Nine names in ten are at most this wide. */
function usualWidth(widths: readonly number[]): number {
  return widths.toSorted((a, b) => a - b)[Math.ceil(widths.length * 0.9) - 1] ?? 0
}

/** The same number until nine names in ten have another width. */
export function useNameWidth(entries: readonly VisibleSlot[], measure: Measure): number {
  const { watch } = useServices()
  const read = useMemo(() => {
    let widths = new Map<string, number>()
    return memoize(
      () => [watch.get().slotRecords, watch.cards()],
      ([slotRecords]) => {
        const names = entries.map((entry) => {
          const facts = entry.kind === 'channel' ? watch.facts(entry.receiverId, entry.channelId) : null
          return facts?.name ?? slotRecords.get(entry.slot)?.title ?? ''
        })
        // Keeps only the current names: a wall is open for weeks.
        widths = new Map(names.map((name) => [name, widths.get(name) ?? measure(name)]))
        return usualWidth(names.filter((name) => name !== '').map((name) => widths.get(name) ?? 0))
      },
    )
  }, [watch, entries, measure])
  return useSyncExternalStore(watch.subscribe, read)
}

/** A shorter word than elsewhere; null if the state is no exception. */
export function stateWord(state: ConditionState): string | null {
  return isException(state) ? t(`wall.states.${state}`) : null
}

/** Measures in pixels of this font size, because browsers round the widths of small letters. */
const measuredPx = 100

/** Another function once the font is loaded. */
export function useMeasure(): Measure {
  const [isLoaded, setLoaded] = useState(false)
  const font = useMemo(
    () => `700 ${measuredPx}px ${getComputedStyle(document.documentElement).getPropertyValue('--font')}`,
    [],
  )
  useEffect(() => {
    let isUnmounted = false
    // Without the font, the browser displays and measures another one.
    const done = () => (isUnmounted ? undefined : setLoaded(true))
    document.fonts.load(font).then(done, done)
    return () => {
      isUnmounted = true
    }
  }, [font])
  return useMemo(() => {
    const context = document.createElement('canvas').getContext('2d')
    if (context === null || !isLoaded) return (text) => text.length * 0.6
    context.font = font
    return (text) => context.measureText(text).width / measuredPx
  }, [font, isLoaded])
}

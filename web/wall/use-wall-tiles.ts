import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useServices } from '../app/context.ts'
import type { Watch } from '../app/watch.ts'
import { fitName, type NameFit } from '../parts/card/name-fit.ts'
import { decodeSlots, type VisibleSlot } from '../parts/channels/visible-slots.ts'

export interface WallTile {
  readonly entry: VisibleSlot
  readonly needsAttention: boolean
}

export interface WallTiles {
  readonly tiles: readonly WallTile[]
  readonly widest: NameFit
}

/** The same object until something relevant changes. */
export function useWallTiles(slots: string): WallTiles {
  const { watch } = useServices()
  const measure = useMeasure()
  const read = useMemo(() => {
    const entries = decodeSlots(slots)
    let seen: readonly unknown[] = []
    let read: { text: string; tiles: WallTiles } = { text: '', tiles: readTiles(watch, entries, measure) }
    return () => {
      const { slotRecords } = watch.get()
      const now = [watch.cards(), slotRecords]
      if (now.every((value, index) => value === seen[index])) return read.tiles
      seen = now
      const tiles = readTiles(watch, entries, measure)
      const text = JSON.stringify(tiles)
      if (text !== read.text) read = { text, tiles }
      return read.tiles
    }
  }, [watch, slots, measure])
  return useSyncExternalStore(watch.subscribe, read)
}

function readTiles(watch: Watch, entries: readonly VisibleSlot[], measure: (text: string) => number): WallTiles {
  const { slotRecords } = watch.get()
  let widest: NameFit = { whole: 0, broken: 0 }
  const tiles = entries.map((entry): WallTile => {
    const facts = entry.kind === 'channel' ? watch.facts(entry.receiverId, entry.channelId) : null
    const { whole, broken } = fitName(facts?.name ?? slotRecords.get(entry.slot)?.title ?? '', measure)
    widest = { whole: Math.max(widest.whole, whole), broken: Math.max(widest.broken, broken) }
    return { entry, needsAttention: facts?.needsAttention === true }
  })
  return { tiles, widest }
}

/** Measures in pixels of this font size, because browsers round the widths of small letters. */
const measuredPx = 100

/** In em, in the font of the names. Another function once the font is loaded. */
function useMeasure(): (text: string) => number {
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

import { type PointerEvent as ReactPointerEvent, type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { parseTarget, type Target, type Thing } from '../app/arrangement.ts'

export interface TileDrag {
  readonly thing: Thing | null
  readonly over: string | null
  readonly ghost: RefObject<HTMLDivElement | null>
  /** A finger drags only the handle, because it scrolls elsewhere. */
  start(event: ReactPointerEvent, thing: Thing): void
}

/** CSS pixels. A shorter movement is a click. */
const clickDistance = 6
const scrollMargin = 72
const scrollStep = 14

interface Point {
  readonly clientX: number
  readonly clientY: number
}

export function useTileDrag(onDrop: (thing: Thing, target: Target, isShiftPressed: boolean) => void): TileDrag {
  const [thing, setThing] = useState<Thing | null>(null)
  const [over, setOver] = useState<string | null>(null)
  const ghost = useRef<HTMLDivElement>(null)
  const dropRef = useRef(onDrop)
  dropRef.current = onDrop
  const stopRef = useRef<() => void>(() => {})
  useEffect(() => () => stopRef.current(), [])

  const start = useCallback((down: ReactPointerEvent, thing: Thing) => {
    const isHandle = down.target instanceof Element && down.target.closest('.tile-handle') !== null
    if (down.button !== 0 || (down.pointerType === 'touch' && !isHandle)) return
    stopRef.current()
    const { pointerId, clientX: startX, clientY: startY } = down
    const listeners = new AbortController()
    let point: Point = { clientX: startX, clientY: startY }
    let isDragging = false
    let frame = 0

    const follow = () => {
      const { clientX, clientY } = point
      ghost.current?.style.setProperty('translate', `${clientX}px ${clientY}px`)
      if (clientY < scrollMargin) scrollBy(0, -scrollStep)
      else if (clientY > innerHeight - scrollMargin) scrollBy(0, scrollStep)
      setOver(targetAt(point))
      frame = requestAnimationFrame(follow)
    }
    const stop = () => {
      listeners.abort()
      cancelAnimationFrame(frame)
      setThing(null)
      setOver(null)
    }
    const move = (event: PointerEvent) => {
      if (event.pointerId !== pointerId) return
      point = event
      if (isDragging || Math.hypot(event.clientX - startX, event.clientY - startY) < clickDistance) return
      isDragging = true
      setThing(thing)
      follow()
    }
    const end = (event: PointerEvent) => {
      if (event.pointerId !== pointerId) return
      stop()
      if (!isDragging) return
      ignoreNextClick()
      const target = parseTarget(targetAt(event))
      if (target !== null) dropRef.current(thing, target, event.shiftKey)
    }
    const { signal } = listeners
    addEventListener('pointermove', move, { signal })
    addEventListener('pointerup', end, { signal })
    addEventListener('pointercancel', stop, { signal })
    addEventListener('keydown', ({ key }) => key === 'Escape' && stop(), { signal })
    stopRef.current = stop
  }, [])
  return { thing, over, ghost, start }
}

function targetAt({ clientX, clientY }: Point): string | null {
  return document.elementFromPoint(clientX, clientY)?.closest('[data-drop]')?.getAttribute('data-drop') ?? null
}

/** The browser sends a click after a release over the pressed tile. */
function ignoreNextClick() {
  const ignore = (event: Event) => {
    event.preventDefault()
    event.stopPropagation()
  }
  addEventListener('click', ignore, { capture: true, once: true })
  setTimeout(() => removeEventListener('click', ignore, { capture: true }))
}

import { type RefObject, useEffect } from 'react'

/** Publishes the height of an element that stays in view, so that other sticky elements stay below it. */
export function usePinned(element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const { current } = element
    if (current === null) return
    const { style } = document.documentElement
    const observer = new ResizeObserver(() => {
      const isSticky = getComputedStyle(current).position === 'sticky'
      style.setProperty('--pinned-height', `${isSticky ? current.offsetHeight : 0}px`)
    })
    observer.observe(current)
    return () => {
      observer.disconnect()
      style.removeProperty('--pinned-height')
    }
  }, [element])
}

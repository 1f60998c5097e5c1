import { type RefObject, useEffect } from 'react'
import { publishHeight } from '../app/top-bar.tsx'

/** Publishes the height of an element that stays in view, so that other sticky elements stay below it. */
export function usePinned(element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    if (element.current === null) return
    const stop = publishHeight(element.current, '--pinned-height')
    return () => {
      stop()
      document.documentElement.style.removeProperty('--pinned-height')
    }
  }, [element])
}

import { useEffect } from 'react'

/** `recolour` must stay the same function. */
export function useColourChanges(recolour: () => void): void {
  useEffect(() => {
    const queries = ['(prefers-color-scheme: light)', '(prefers-contrast: more)', '(forced-colors: active)', 'print']
    const media = queries.map((query) => matchMedia(query))
    for (const query of media) query.addEventListener('change', recolour)
    const theme = new MutationObserver(recolour)
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    void document.fonts.ready.then(recolour)
    return () => {
      for (const query of media) query.removeEventListener('change', recolour)
      theme.disconnect()
    }
  }, [recolour])
}

interface WheelActions {
  zoom(factor: number): void
  pan(pixels: number): void
}

const pixelsPerLine = 16

/** Zooms with Ctrl and pans sideways. A vertical wheel without keys scrolls the page. */
export function handleWheel(event: WheelEvent, { zoom, pan }: WheelActions): void {
  const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? pixelsPerLine : 1
  const isZoom = event.ctrlKey || event.metaKey
  if (!isZoom && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return
  event.preventDefault()
  if (isZoom) zoom(Math.exp(event.deltaY * pixels * 0.002))
  else pan((event.deltaX || event.deltaY) * pixels)
}

/**
 * Paints all meters and charts of the page onto one canvas from one requestAnimationFrame loop. One canvas, because a
 * layer for each card costs the browser more than all the painting. It lies over the cards like a window, a little
 * larger than the screen, scrolls with them and is moved on when the screen is about to leave it.
 *
 * A painting is drawn only while it is on screen and something on it has changed, and the loop rests when nothing moves.
 */

import { type Palette, readPalette } from './palette.ts'

export interface Painting {
  /** Where on the page it is painted. */
  readonly place: HTMLElement
  /** To be drawn again; cleared by `draw`. */
  isDirty: boolean
  /** One frame on, in a place so many CSS pixels wide; true while there is more to come. */
  step(now: number, elapsedMs: number, width: number): boolean
  /** Into this box, in pixels of the canvas. */
  draw(context: CanvasRenderingContext2D, box: Box, palette: Palette): void
  /** The same values as text; both are left out where there is none. */
  isTold?(): boolean
  tell?(): void
}

export interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

export interface Painter {
  /** The canvas to paint on; it lies over its parent. */
  attach(layer: HTMLCanvasElement): () => void
  add(painting: Painting): () => void
  /** The cards have changed places. */
  remeasure(): void
  /** The colours have changed. */
  recolour(): void
}

/** The part of the parent that the canvas covers, in CSS pixels. */
interface Window {
  readonly top: number
  readonly width: number
  readonly height: number
}

/** All at once, so that the page is laid out four times a second and not for every value. */
const textEveryMs = 250
/** How far the canvas reaches beyond the screen, above and below. */
const marginPx = 160
const leastFrameMs = 12
const nowhere: Box = { left: 0, top: 0, width: 0, height: 0 }

export function createPainter(subscribe: (listener: () => void) => () => void): Painter {
  /** Each with its box within the layer's parent, in CSS pixels. */
  const paintings = new Map<Painting, Box>()
  let layer: HTMLCanvasElement | null = null
  let view: Window | null = null
  let isMeasured = false
  let palette: Palette | null = null
  let frame = 0
  let paintedAt = 0
  let toldAt = 0

  for (const query of ['(prefers-color-scheme: light)', '(prefers-contrast: more)']) {
    matchMedia(query).addEventListener('change', recolour)
  }
  window.addEventListener('scroll', wake, { passive: true })
  window.addEventListener('resize', remeasure)
  subscribe(wake)

  function wake() {
    if (frame === 0) frame = requestAnimationFrame(paint)
  }

  function remeasure() {
    isMeasured = false
    wake()
  }

  function recolour() {
    palette = null
    remeasure()
  }

  function paint(now: number) {
    frame = 0
    const field = layer?.parentElement
    const context = layer?.getContext('2d')
    if (layer === null || !field || !context) return
    palette ??= readPalette()
    // Sixty a second will do, however fast the screen is.
    if (now - paintedAt < leastFrameMs) return wake()
    const elapsed = Math.min(100, now - paintedAt)
    paintedAt = now
    const fieldBox = field.getBoundingClientRect()
    if (!isMeasured) measure(paintings, fieldBox)
    if (!isMeasured || view === null || isLeaving(view, fieldBox)) {
      view = openWindow(layer, fieldBox)
      for (const painting of paintings.keys()) painting.isDirty = true
      isMeasured = true
    }

    const isTelling = now - toldAt >= textEveryMs
    if (isTelling) toldAt = now
    let isMoving = false
    for (const [painting, box] of paintings) {
      if (!isWithin(box, view)) continue
      isMoving = painting.step(now, elapsed, box.width) || isMoving
      if (painting.isDirty) {
        painting.isDirty = false
        painting.draw(context, toPixels(box, view), palette)
      }
      if (painting.isTold?.() === false) {
        if (isTelling) painting.tell?.()
        else isMoving = true
      }
    }
    if (isMoving) wake()
  }

  return {
    remeasure,
    recolour,
    attach(canvas) {
      layer = canvas
      const sized = new ResizeObserver(remeasure)
      if (canvas.parentElement !== null) sized.observe(canvas.parentElement)
      remeasure()
      return () => {
        layer = null
        sized.disconnect()
      }
    },
    add(painting) {
      paintings.set(painting, nowhere)
      remeasure()
      return () => {
        paintings.delete(painting)
        remeasure()
      }
    },
  }
}

function measure(paintings: Map<Painting, Box>, field: DOMRect) {
  for (const painting of paintings.keys()) {
    const { left, top, width, height } = painting.place.getBoundingClientRect()
    paintings.set(painting, { left: left - field.left, top: top - field.top, width, height })
  }
}

/** Half the margin is left: time enough to move on before the edge is seen. */
function isLeaving({ top, height }: Window, field: DOMRect): boolean {
  const above = -field.top - top
  const below = top + height - (innerHeight - field.top)
  const isAtTop = top === 0
  const isAtBottom = top + height >= field.height
  return (above < marginPx / 2 && !isAtTop) || (below < marginPx / 2 && !isAtBottom)
}

function openWindow(layer: HTMLCanvasElement, field: DOMRect): Window {
  const top = Math.max(0, Math.floor(-field.top - marginPx))
  const height = Math.max(0, Math.min(Math.ceil(field.height) - top, innerHeight + 2 * marginPx))
  layer.width = Math.round(field.width * devicePixelRatio)
  layer.height = Math.round(height * devicePixelRatio)
  layer.style.top = `${top}px`
  layer.style.width = `${field.width}px`
  layer.style.height = `${height}px`
  return { top, width: field.width, height }
}

function isWithin(box: Box, { top, height }: Window): boolean {
  return box.width > 0 && box.top + box.height > top && box.top < top + height
}

function toPixels({ left, top, width, height }: Box, view: Window): Box {
  const scale = devicePixelRatio
  return {
    left: Math.round(left * scale),
    top: Math.round((top - view.top) * scale),
    width: Math.round(width * scale),
    height: Math.round(height * scale),
  }
}

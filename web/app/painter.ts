/**
 * Paints all meters, readouts and charts of a page on one canvas in one requestAnimationFrame loop. A compositing
 * layer for every card would cost more than the painting, and changing text in the DOM would make the browser lay out
 * all cards. The canvas extends slightly beyond the viewport and moves when scrolling approaches its edge. The loop
 * stops when nothing moves.
 */

import type { Watch } from './watch.ts'

export interface Painting {
  readonly element: HTMLElement
  /** Requests a redraw; cleared before `draw`. */
  isDirty: boolean
  /** Returns whether the animation is still running. `width` is in canvas pixels. */
  step(now: number, elapsedMs: number, width: number): boolean
  /** `box` is in canvas pixels. */
  draw(context: CanvasRenderingContext2D, box: Box, palette: Palette): void
}

export interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

export interface Painter {
  attach(layer: HTMLCanvasElement): () => void
  add(painting: Painting): () => void
  /** Call after changes that are not in the watch state. */
  wake(): void
  /** Call when the cards have moved. */
  remeasure(): void
  /** Call when the colours have changed. */
  recolour(): void
}

interface Range {
  readonly top: number
  readonly height: number
}

interface Window extends Range {
  readonly left: number
}

const marginPx = 160
const minFrameMs = 12
const nowhere: Box = { left: 0, top: 0, width: 0, height: 0 }

export function createPainter(watch: Pick<Watch, 'subscribe' | 'subscribeLevels'>): Painter {
  const paintings = new Map<Painting, Box>()
  let shown: readonly (readonly [Painting, Box])[] = []
  let layer: HTMLCanvasElement | null = null
  let context: CanvasRenderingContext2D | null = null
  let view: Window | null = null
  let isMeasured = false
  let palette: Palette | null = null
  let frame = 0
  let paintedAt = 0

  for (const query of ['(prefers-color-scheme: light)', '(prefers-contrast: more)', '(forced-colors: active)']) {
    matchMedia(query).addEventListener('change', recolour)
  }
  window.addEventListener('scroll', wake, { passive: true })
  window.addEventListener('resize', remeasure)
  window.addEventListener('contentvisibilityautostatechange', remeasureShown)
  watch.subscribe(wake)
  watch.subscribeLevels(wake)

  function wake() {
    if (frame === 0) frame = requestAnimationFrame(paint)
  }

  function remeasure() {
    isMeasured = false
    wake()
  }

  /** After a jump, the browser renders the cards in the viewport only once the canvas is there. */
  function remeasureShown(event: Event) {
    if (!(event instanceof ContentVisibilityAutoStateChangeEvent) || event.skipped) return
    if (!(event.target instanceof HTMLElement)) return
    const { top, bottom } = event.target.getBoundingClientRect()
    if (bottom > -marginPx && top < innerHeight + marginPx) remeasure()
  }

  function recolour() {
    palette = null
    remeasure()
  }

  function paint(now: number) {
    frame = 0
    const field = layer?.parentElement
    if (layer === null || context === null || !field) return
    // About 60 frames per second.
    if (now - paintedAt < minFrameMs) return wake()
    const elapsed = Math.min(100, now - paintedAt)
    paintedAt = now
    palette ??= readPalette()
    show(layer, field.getBoundingClientRect())
    let isMoving = false
    for (const [painting, box] of shown) {
      isMoving = painting.step(now, elapsed, box.width) || isMoving
      if (!painting.isDirty) continue
      painting.isDirty = false
      painting.draw(context, box, palette)
    }
    if (isMoving) wake()
  }

  function show(canvas: HTMLCanvasElement, field: DOMRect) {
    if (isMeasured && view !== null && !isLeaving(view, field)) return
    measure(paintings, field)
    isMeasured = true
    const range = visibleRange(field)
    const within = [...paintings].filter(([, box]) => isWithin(box, range))
    const boxes = within.map(([, box]) => box)
    const opened = openWindow(canvas, { field, range, boxes })
    view = opened
    shown = within.map(([painting, box]) => [painting, toPixels(box, opened)])
    for (const [painting] of shown) painting.isDirty = true
  }

  return {
    wake,
    remeasure,
    recolour,
    attach(canvas) {
      layer = canvas
      context = canvas.getContext('2d')
      const sized = new ResizeObserver(remeasure)
      if (canvas.parentElement !== null) sized.observe(canvas.parentElement)
      remeasure()
      return () => {
        layer = null
        context = null
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

/** Measures only rendered elements. The browser would have to lay out any others. */
function measure(paintings: Map<Painting, Box>, field: DOMRect) {
  for (const painting of paintings.keys()) {
    if (!painting.element.checkVisibility({ contentVisibilityAuto: true })) {
      paintings.set(painting, nowhere)
      continue
    }
    const { left, top, width, height } = painting.element.getBoundingClientRect()
    paintings.set(painting, { left: left - field.left, top: top - field.top, width, height })
  }
}

/** The other half of the margin is for the time until the canvas moves. */
function isLeaving({ top, height }: Range, field: DOMRect): boolean {
  const above = -field.top - top
  const below = top + height - (innerHeight - field.top)
  const isAtTop = top < 1
  const isAtBottom = top + height >= field.height
  return (above < marginPx / 2 && !isAtTop) || (below < marginPx / 2 && !isAtBottom)
}

function visibleRange(field: DOMRect): Range {
  const top = Math.max(0, Math.floor(-field.top - marginPx))
  return { top, height: Math.max(0, Math.min(Math.ceil(field.height) - top, innerHeight + 2 * marginPx)) }
}

interface Coverage {
  readonly field: DOMRect
  readonly range: Range
  readonly boxes: readonly Box[]
}

function openWindow(layer: HTMLCanvasElement, { field, range, boxes }: Coverage): Window {
  const from = Math.min(field.width, ...boxes.map((box) => box.left))
  const to = Math.max(from, ...boxes.map((box) => box.left + box.width))
  // Aligns the canvas with whole device pixels, so that painted text aligns with the DOM.
  const left = onPixel(field.left + from) - field.left
  const top = onPixel(field.top + range.top) - field.top
  // A box that begins at a rounded pixel may end one pixel further.
  layer.width = Math.round((to - from) * devicePixelRatio) + 1
  layer.height = Math.round(range.height * devicePixelRatio)
  layer.style.left = `${left}px`
  layer.style.top = `${top}px`
  layer.style.width = `${layer.width / devicePixelRatio}px`
  layer.style.height = `${layer.height / devicePixelRatio}px`
  return { left, top, height: range.height }
}

function onPixel(at: number): number {
  return Math.round(at * devicePixelRatio) / devicePixelRatio
}

function isWithin(box: Box, { top, height }: Range): boolean {
  return box.width > 0 && box.top + box.height > top && box.top < top + height
}

function toPixels({ left, top, width, height }: Box, view: Window): Box {
  const scale = devicePixelRatio
  return {
    left: Math.round((left - view.left) * scale),
    top: Math.round((top - view.top) * scale),
    width: Math.round(width * scale),
    height: Math.round(height * scale),
  }
}

const names = {
  track: 'track',
  tick: 'tick',
  old: 'old',
  rf: 'rf',
  rfFair: 'rf-fair',
  rfWeak: 'rf-weak',
  audio: 'audio',
  audioHigh: 'audio-high',
  audioOver: 'audio-over',
  peak: 'peak',
} as const

export type Palette = Readonly<Record<keyof typeof names, string>>

function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement)
  const entries = Object.entries(names).map(([key, name]) => [key, style.getPropertyValue(`--meter-${name}`).trim()])
  return Object.fromEntries(entries) as Palette
}

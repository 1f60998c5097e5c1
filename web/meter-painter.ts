/**
 * Paints all meters of the page onto one canvas from one requestAnimationFrame loop. One canvas, because a layer for
 * each card costs the browser more than all the painting. It lies over the cards like a window, a little larger than
 * the screen, scrolls with them and is moved on when the screen is about to leave it.
 *
 * Levels glide to their newest sample. A strip is painted only while it is on screen and something on it moves, and
 * the loop rests when nothing does.
 */

import { formatLevel } from './format.ts'
import { clippingFrom, weakBelow } from './state.ts'
import { texts } from './texts.ts'

export interface Levels {
  /** dBm */
  readonly rf: number | null
  /** dBFS */
  readonly audio: number | null
  readonly isLive: boolean
}

export interface Strip {
  /** Where on the page its bars are painted. */
  readonly place: HTMLElement
  /** The same values as text. */
  readonly rfText: Text
  readonly audioText: Text
  read(): Levels
}

export interface MeterPainter {
  /** The canvas to paint on; it lies over its parent. */
  attach(layer: HTMLCanvasElement): () => void
  add(strip: Strip): () => void
  /** The cards have changed places. */
  remeasure(): void
}

interface Painted extends Strip {
  isDirty: boolean
  wasLive: boolean
  /** Shares of the bar's width, 0 to 1; under 0: nothing. */
  rf: number
  audio: number
  peak: number
  peakAt: number
  /** Within the layer's parent, in CSS pixels. */
  box: Box
}

interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** The part of the parent that the canvas covers, in CSS pixels. */
interface View {
  readonly top: number
  readonly width: number
  readonly height: number
}

interface Palette {
  readonly track: string
  readonly tick: string
  readonly old: string
  readonly rf: string
  readonly rfFair: string
  readonly rfWeak: string
  readonly audio: string
  readonly audioHigh: string
  readonly audioOver: string
  readonly peak: string
}

const rfShare = (dbm: number) => share(dbm, -100, -30)
const audioShare = (dbfs: number) => share(dbfs, -60, 0)
const rfTicks = [rfShare(weakBelow), rfShare(-70)]
const audioTicks = [audioShare(-40), audioShare(-20), audioShare(-10)]
const highFrom = audioShare(-10)
const overFrom = audioShare(clippingFrom)

const riseMs = 45
const fallMs = 140
const peakHoldMs = 1_500
/** Share of the bar a second. */
const peakFall = 0.4
/** All at once, so that the page is laid out four times a second and not for every value. */
const textEveryMs = 250
/** How far the canvas reaches beyond the screen, above and below. */
const marginPx = 160
const leastFrameMs = 12
const nowhere: Box = { left: 0, top: 0, width: 0, height: 0 }

export function createMeterPainter(subscribe: (listener: () => void) => () => void): MeterPainter {
  const strips = new Set<Painted>()
  let layer: HTMLCanvasElement | null = null
  let view: View | null = null
  let isMeasured = false
  let palette: Palette | null = null
  let frame = 0
  let paintedAt = 0
  let toldAt = 0

  for (const query of ['(prefers-color-scheme: light)', '(prefers-contrast: more)']) {
    matchMedia(query).addEventListener('change', () => {
      palette = null
      remeasure()
    })
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
    if (!isMeasured) measure(strips, fieldBox)
    if (!isMeasured || view === null || isLeaving(view, fieldBox)) {
      view = openView(layer, fieldBox)
      for (const strip of strips) strip.isDirty = true
      isMeasured = true
    }

    const isTelling = now - toldAt >= textEveryMs
    if (isTelling) toldAt = now
    let isMoving = false
    for (const strip of strips) {
      if (!isWithin(strip.box, view)) continue
      const levels = strip.read()
      isMoving = move(strip, levels, elapsed, now) || isMoving
      if (strip.isDirty) draw(context, strip, view, levels.isLive, palette)
      if (!isTold(strip, levels)) {
        if (isTelling) tell(strip, levels)
        else isMoving = true
      }
    }
    if (isMoving) wake()
  }

  return {
    remeasure,
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
    add(strip) {
      const painted: Painted = {
        ...strip,
        isDirty: true,
        wasLive: false,
        rf: -1,
        audio: -1,
        peak: -1,
        peakAt: 0,
        box: nowhere,
      }
      strips.add(painted)
      remeasure()
      return () => {
        strips.delete(painted)
        remeasure()
      }
    },
  }
}

function measure(strips: Iterable<Painted>, field: DOMRect) {
  for (const strip of strips) {
    const { left, top, width, height } = strip.place.getBoundingClientRect()
    strip.box = { left: left - field.left, top: top - field.top, width, height }
  }
}

/** Half the margin is left: time enough to move on before the edge is seen. */
function isLeaving({ top, height }: View, field: DOMRect): boolean {
  const above = -field.top - top
  const below = top + height - (innerHeight - field.top)
  const isAtTop = top === 0
  const isAtBottom = top + height >= field.height
  return (above < marginPx / 2 && !isAtTop) || (below < marginPx / 2 && !isAtBottom)
}

function openView(layer: HTMLCanvasElement, field: DOMRect): View {
  const top = Math.max(0, Math.floor(-field.top - marginPx))
  const height = Math.max(0, Math.min(Math.ceil(field.height) - top, innerHeight + 2 * marginPx))
  layer.width = Math.round(field.width * devicePixelRatio)
  layer.height = Math.round(height * devicePixelRatio)
  layer.style.top = `${top}px`
  layer.style.width = `${field.width}px`
  layer.style.height = `${height}px`
  return { top, width: field.width, height }
}

function isWithin(box: Box, { top, height }: View): boolean {
  return box.width > 0 && box.top + box.height > top && box.top < top + height
}

/** One frame on; true while there is more to come. */
function move(strip: Painted, { rf, audio, isLive }: Levels, elapsed: number, now: number): boolean {
  if (isLive !== strip.wasLive) {
    strip.wasLive = isLive
    strip.isDirty = true
    strip.peak = -1
  }
  const step = 0.25 / Math.max(25, strip.box.width)
  const before = [strip.rf, strip.audio, strip.peak]
  strip.rf = glide(strip.rf, rf === null ? -1 : rfShare(rf), elapsed, step)
  strip.audio = glide(strip.audio, audio === null ? -1 : audioShare(audio), elapsed, step)
  // Meters stop where values are old: they do not pretend.
  if (isLive) holdPeak(strip, audio === null ? -1 : audioShare(audio), elapsed, now)
  const hasMoved = strip.rf !== before[0] || strip.audio !== before[1] || strip.peak !== before[2]
  if (hasMoved) strip.isDirty = true
  return hasMoved || (isLive && strip.peak > strip.audio)
}

function glide(from: number, to: number, elapsed: number, step: number): number {
  if (to < 0 || from < 0) return to
  const next = from + (to - from) * (1 - Math.exp(-elapsed / (to > from ? riseMs : fallMs)))
  return Math.abs(to - next) < step ? to : next
}

function holdPeak(strip: Painted, level: number, elapsed: number, now: number) {
  if (level >= strip.peak) {
    strip.peak = level
    strip.peakAt = now
  } else if (now - strip.peakAt > peakHoldMs) {
    strip.peak = Math.max(level, strip.peak - (peakFall * elapsed) / 1_000)
  }
}

function isTold(strip: Painted, levels: Levels): boolean {
  return strip.rfText.data === rfText(levels) && strip.audioText.data === audioText(levels)
}

function tell(strip: Painted, levels: Levels) {
  strip.rfText.data = rfText(levels)
  strip.audioText.data = audioText(levels)
}

function rfText({ rf }: Levels): string {
  return rf === null ? texts.card.none : texts.card.dbm(formatLevel(rf))
}

function audioText({ audio, isLive }: Levels): string {
  return audio === null || !isLive ? texts.card.none : texts.card.dbfs(formatLevel(audio))
}

/** Two bars: RF above, audio below, each in the middle of its half. */
function draw(context: CanvasRenderingContext2D, strip: Painted, view: View, isLive: boolean, palette: Palette) {
  strip.isDirty = false
  const scale = devicePixelRatio
  const left = Math.round(strip.box.left * scale)
  const top = Math.round((strip.box.top - view.top) * scale)
  const width = Math.round(strip.box.width * scale)
  const height = Math.round(strip.box.height * scale)
  const barHeight = Math.round(height * 0.26)
  const rfTop = top + Math.round((height / 2 - barHeight) / 2)
  const audioTop = top + Math.round(height / 2 + (height / 2 - barHeight) / 2)
  const fill = (colour: string, barTop: number, from: number, to: number) => {
    if (to <= from) return
    context.fillStyle = colour
    context.fillRect(left + Math.round(from * width), barTop, Math.max(1, Math.round((to - from) * width)), barHeight)
  }
  fill(palette.track, rfTop, 0, 1)
  fill(palette.track, audioTop, 0, 1)
  fill(isLive ? rfColour(strip.rf, palette) : palette.old, rfTop, 0, strip.rf)
  if (isLive) {
    fill(palette.audio, audioTop, 0, Math.min(strip.audio, highFrom))
    fill(palette.audioHigh, audioTop, highFrom, Math.min(strip.audio, overFrom))
    fill(palette.audioOver, audioTop, overFrom, strip.audio)
    if (strip.peak > 0) {
      const thick = 2 / width
      const at = Math.min(1 - thick, strip.peak)
      fill(strip.peak >= overFrom ? palette.audioOver : palette.peak, audioTop, at, at + thick)
    }
  }
  const gap = Math.max(1, Math.round(scale))
  context.fillStyle = palette.tick
  for (const tick of rfTicks) context.fillRect(left + Math.round(tick * width), rfTop, gap, barHeight)
  for (const tick of audioTicks) context.fillRect(left + Math.round(tick * width), audioTop, gap, barHeight)
}

function rfColour(level: number, palette: Palette): string {
  if (level < (rfTicks[0] ?? 0)) return palette.rfWeak
  return level < (rfTicks[1] ?? 0) ? palette.rfFair : palette.rf
}

function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(`--meter-${name}`).trim()
  return {
    track: colour('track'),
    tick: colour('tick'),
    old: colour('old'),
    rf: colour('rf'),
    rfFair: colour('rf-fair'),
    rfWeak: colour('rf-weak'),
    audio: colour('audio'),
    audioHigh: colour('audio-high'),
    audioOver: colour('audio-over'),
    peak: colour('peak'),
  }
}

function share(value: number, least: number, most: number): number {
  return Math.min(1, Math.max(0, (value - least) / (most - least)))
}

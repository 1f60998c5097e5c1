/** Two bars of one channel, RF above audio, that move smoothly to the latest level. */

import type { Box, Painting } from './painter.ts'
import type { Palette } from './palette.ts'
import { audioShare, rfShare, rfShareOf } from './scale.ts'
import { clippingFrom, fairBelow, weakBelow } from './state.ts'
import type { Levels } from './store.ts'

interface MeterOptions {
  readonly element: HTMLElement
  read(): Levels
}

/** Fractions of the bar width, 0 to 1; negative for no value. */
interface Bars {
  rf: number
  audio: number
  peak: number
  peakAt: number
  /** Whether RF is a percentage of the device's own scale, for which no limit for weak RF is known. */
  isPercent: boolean
  isLive: boolean
}

/** The bars in whole canvas pixels. */
interface Drawing {
  readonly rf: number
  readonly audio: number
  readonly peak: number
  readonly isPercent: boolean
  readonly isLive: boolean
}

const weakUnder = rfShare(weakBelow)
const fairUnder = rfShare(fairBelow)
const highFrom = audioShare(-10)
const overFrom = audioShare(clippingFrom)
const rfTicks = [weakUnder, fairUnder]
const audioTicks = [audioShare(-40), audioShare(-20), highFrom]

const riseMs = 45
const fallMs = 140
const peakHoldMs = 1_500
/** How fast the peak marker falls, as a fraction of the bar per second. */
const peakFall = 0.4

export function createMeterStrip({ element, read }: MeterOptions): Painting {
  const bars: Bars = { rf: -1, audio: -1, peak: -1, peakAt: 0, isPercent: false, isLive: false }
  let drawing = drawingOf(bars, 0)
  return {
    element,
    isDirty: true,
    step(now, elapsed, width) {
      const isMoving = move(bars, read(), { now, elapsed, width })
      const next = drawingOf(bars, width)
      if (!isSame(drawing, next)) this.isDirty = true
      drawing = next
      return isMoving
    },
    draw: (context, box, palette) => drawBars(context, drawing, box, palette),
  }
}

interface Moment {
  readonly now: number
  readonly elapsed: number
  /** Width of the strip in canvas pixels. */
  readonly width: number
}

/** Advances the bars by one frame; returns whether they are still moving. */
function move(bars: Bars, levels: Levels, { now, elapsed, width }: Moment): boolean {
  const { audio, isLive } = levels
  const before = { ...bars }
  if (isLive !== bars.isLive) {
    bars.isLive = isLive
    bars.peak = -1
  }
  const step = 0.25 / Math.max(25, width)
  bars.isPercent = levels.rfPercent !== null
  bars.rf = glide(bars.rf, rfShareOf(levels) ?? -1, elapsed, step)
  bars.audio = glide(bars.audio, audio === null ? -1 : audioShare(audio), elapsed, step)
  // Meters do not move while values are stale.
  if (isLive) holdPeak(bars, audio === null ? -1 : audioShare(audio), elapsed, now)
  const hasMoved = bars.rf !== before.rf || bars.audio !== before.audio || bars.peak !== before.peak
  return hasMoved || (isLive && bars.peak > bars.audio)
}

function glide(from: number, to: number, elapsed: number, step: number): number {
  if (to < 0 || from < 0) return to
  const next = from + (to - from) * (1 - Math.exp(-elapsed / (to > from ? riseMs : fallMs)))
  return Math.abs(to - next) < step ? to : next
}

function holdPeak(bars: Bars, level: number, elapsed: number, now: number) {
  if (level >= bars.peak) {
    bars.peak = level
    bars.peakAt = now
  } else if (now - bars.peakAt > peakHoldMs) {
    bars.peak = Math.max(level, bars.peak - (peakFall * elapsed) / 1_000)
  }
}

function drawingOf({ rf, audio, peak, isPercent, isLive }: Bars, width: number): Drawing {
  const pixels = (share: number) => Math.round(share * width)
  return { rf: pixels(rf), audio: pixels(audio), peak: pixels(peak), isPercent, isLive }
}

function isSame(a: Drawing, b: Drawing): boolean {
  const isAsLong = a.rf === b.rf && a.audio === b.audio && a.peak === b.peak
  return isAsLong && a.isPercent === b.isPercent && a.isLive === b.isLive
}

/** Draws both bars, each centred in its half of the strip. */
function drawBars(context: CanvasRenderingContext2D, drawing: Drawing, box: Box, palette: Palette) {
  const { rf, audio, peak, isPercent, isLive } = drawing
  const { left, top, width, height } = box
  const barHeight = Math.max(2, Math.round(height * 0.26))
  const rfTop = top + Math.round((height / 2 - barHeight) / 2)
  const audioTop = top + Math.round(height / 2 + (height / 2 - barHeight) / 2)
  const [high, over] = [Math.round(highFrom * width), Math.round(overFrom * width)]
  const thin = Math.max(1, Math.round(devicePixelRatio))
  const fill = (colour: string, barTop: number, from: number, to: number) => {
    if (to <= from) return
    context.fillStyle = colour
    context.fillRect(left + from, barTop, to - from, barHeight)
  }
  fill(palette.track, rfTop, 0, width)
  fill(palette.track, audioTop, 0, width)
  fill(rfColour(drawing, width, palette), rfTop, 0, rf)
  if (isLive) {
    fill(palette.audio, audioTop, 0, Math.min(audio, high))
    fill(palette.audioHigh, audioTop, high, Math.min(audio, over))
    fill(palette.audioOver, audioTop, over, audio)
    if (peak > 0) {
      const at = Math.min(width - 2 * thin, peak)
      fill(peak >= over ? palette.audioOver : palette.peak, audioTop, at, at + 2 * thin)
    }
  }
  for (const tick of isPercent ? [] : rfTicks)
    fill(palette.tick, rfTop, Math.round(tick * width), Math.round(tick * width) + thin)
  for (const tick of audioTicks) fill(palette.tick, audioTop, Math.round(tick * width), Math.round(tick * width) + thin)
}

function rfColour({ rf, isPercent, isLive }: Drawing, width: number, palette: Palette): string {
  if (!isLive) return palette.old
  if (isPercent || rf >= fairUnder * width) return palette.rf
  return rf < weakUnder * width ? palette.rfWeak : palette.rfFair
}

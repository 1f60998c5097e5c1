/** Two bars of one channel, RF above and audio below, that glide to their newest sample. */

import { formatLevel } from './format.ts'
import type { Box, Painting } from './painter.ts'
import type { Palette } from './palette.ts'
import { audioShare, rfShare } from './scale.ts'
import { clippingFrom, weakBelow } from './state.ts'
import type { Levels } from './store.ts'
import { texts } from './texts.ts'

interface MeterOptions {
  readonly place: HTMLElement
  /** The same values as text. */
  readonly rfText: Text
  readonly audioText: Text
  read(): Levels
}

/** Shares of the bar's width, 0 to 1; under 0: nothing. */
interface Bars {
  rf: number
  audio: number
  peak: number
  peakAt: number
  isLive: boolean
}

const rfTicks = [rfShare(weakBelow), rfShare(-70)]
const audioTicks = [audioShare(-40), audioShare(-20), audioShare(-10)]
const highFrom = audioShare(-10)
const overFrom = audioShare(clippingFrom)

const riseMs = 45
const fallMs = 140
const peakHoldMs = 1_500
/** Share of the bar a second. */
const peakFall = 0.4

export function createMeterStrip({ place, rfText, audioText, read }: MeterOptions): Painting {
  const bars: Bars = { rf: -1, audio: -1, peak: -1, peakAt: 0, isLive: false }
  let levels = read()
  return {
    place,
    isDirty: true,
    step(now, elapsed, width) {
      levels = read()
      const { isMoving, hasChanged } = move(bars, levels, { now, elapsed, width })
      if (hasChanged) this.isDirty = true
      return isMoving
    },
    draw: (context, box, palette) => drawBars(context, bars, box, palette),
    isTold: () => rfText.data === textOfRf(levels) && audioText.data === textOfAudio(levels),
    tell() {
      rfText.data = textOfRf(levels)
      audioText.data = textOfAudio(levels)
    },
  }
}

interface Moment {
  readonly now: number
  readonly elapsed: number
  /** CSS pixels. */
  readonly width: number
}

function move(bars: Bars, { rf, audio, isLive }: Levels, { now, elapsed, width }: Moment) {
  const before = { ...bars }
  if (isLive !== bars.isLive) {
    bars.isLive = isLive
    bars.peak = -1
  }
  const step = 0.25 / Math.max(25, width)
  bars.rf = glide(bars.rf, rf === null ? -1 : rfShare(rf), elapsed, step)
  bars.audio = glide(bars.audio, audio === null ? -1 : audioShare(audio), elapsed, step)
  // Meters stop where values are old: they do not pretend.
  if (isLive) holdPeak(bars, audio === null ? -1 : audioShare(audio), elapsed, now)
  const hasMoved = bars.rf !== before.rf || bars.audio !== before.audio || bars.peak !== before.peak
  return {
    hasChanged: hasMoved || bars.isLive !== before.isLive,
    isMoving: hasMoved || (isLive && bars.peak > bars.audio),
  }
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

function textOfRf({ rf }: Levels): string {
  return rf === null ? texts.card.none : texts.card.dbm(formatLevel(rf))
}

function textOfAudio({ audio, isLive }: Levels): string {
  return audio === null || !isLive ? texts.card.none : texts.card.dbfs(formatLevel(audio))
}

/** Each in the middle of its half. */
function drawBars(context: CanvasRenderingContext2D, bars: Bars, box: Box, palette: Palette) {
  const { left, top, width, height } = box
  const barHeight = Math.max(2, Math.round(height * 0.26))
  const rfTop = top + Math.round((height / 2 - barHeight) / 2)
  const audioTop = top + Math.round(height / 2 + (height / 2 - barHeight) / 2)
  const fill = (colour: string, barTop: number, from: number, to: number) => {
    if (to <= from) return
    context.fillStyle = colour
    context.fillRect(left + Math.round(from * width), barTop, Math.max(1, Math.round((to - from) * width)), barHeight)
  }
  fill(palette.track, rfTop, 0, 1)
  fill(palette.track, audioTop, 0, 1)
  fill(bars.isLive ? rfColour(bars.rf, palette) : palette.old, rfTop, 0, bars.rf)
  if (bars.isLive) {
    fill(palette.audio, audioTop, 0, Math.min(bars.audio, highFrom))
    fill(palette.audioHigh, audioTop, highFrom, Math.min(bars.audio, overFrom))
    fill(palette.audioOver, audioTop, overFrom, bars.audio)
    if (bars.peak > 0) {
      const thick = 2 / width
      const at = Math.min(1 - thick, bars.peak)
      fill(bars.peak >= overFrom ? palette.audioOver : palette.peak, audioTop, at, at + thick)
    }
  }
  const gap = Math.max(1, Math.round(devicePixelRatio))
  context.fillStyle = palette.tick
  for (const tick of rfTicks) context.fillRect(left + Math.round(tick * width), rfTop, gap, barHeight)
  for (const tick of audioTicks) context.fillRect(left + Math.round(tick * width), audioTop, gap, barHeight)
}

function rfColour(level: number, palette: Palette): string {
  if (level < (rfTicks[0] ?? 0)) return palette.rfWeak
  return level < (rfTicks[1] ?? 0) ? palette.rfFair : palette.rf
}

/** RF above audio. The bars move smoothly to the latest level. RF has a bar for each antenna, if known. */

import type { RfTone } from '../../app/conditions.ts'
import type { Box, Painting, Palette } from '../../app/painter.ts'
import { audioShare, rfShare, rfShareOf } from '../../app/scale.ts'
import type { Levels } from '../../app/watch.ts'

interface MeterOptions {
  readonly element: HTMLElement
  readonly hasAntennas: boolean
  /** Height of a bar in its row, 0 to 1. */
  readonly barShare?: number
  read(): Levels
}

/** Fractions of the bar width, 0 to 1; negative for no value. */
interface Bars {
  rf: number
  rfB: number
  audio: number
  /** If the equipment reports it. */
  audioPeak: number
  peak: number
  peakAt: number
  /** The device's own scale has no ticks. */
  isPercent: boolean
  antennas: string | null
  rfTone: RfTone
  isLive: boolean
}

type Drawing = Readonly<Omit<Bars, 'peakAt'>>

// The same on every meter, whatever the thresholds in the settings.
const highFrom = audioShare(-10)
const overFrom = audioShare(-1)
const rfTicks = [rfShare(-90), rfShare(-70), rfShare(-50)]
const audioTicks = [audioShare(-40), audioShare(-20), highFrom]

const riseMs = 45
const fallMs = 140
const peakHoldMs = 1_500
const peakFall = 0.4

export function createMeterStrip({ element, hasAntennas, barShare = 0.52, read }: MeterOptions): Painting {
  const bars: Bars = {
    ...{ rf: -1, rfB: -1, audio: -1, audioPeak: -1, peak: -1, peakAt: 0 },
    ...{ isPercent: false, antennas: null, rfTone: 'good', isLive: false },
  }
  let drawing = drawingOf(bars, 0)
  return {
    element,
    isDirty: true,
    step(now, elapsed, width) {
      const isMoving = move(bars, read(), { now, elapsed, width, hasAntennas })
      const next = drawingOf(bars, width)
      if (!isSame(drawing, next)) this.isDirty = true
      drawing = next
      return isMoving
    },
    draw: (context, box, palette) => drawBars({ context, drawing, box, palette, hasAntennas, barShare }),
  }
}

interface Moment {
  readonly now: number
  readonly elapsed: number
  readonly width: number
  readonly hasAntennas: boolean
}

function move(bars: Bars, levels: Levels, { now, elapsed, width, hasAntennas }: Moment): boolean {
  const { audio, audioPeak, isLive } = levels
  const before = { ...bars }
  if (isLive !== bars.isLive) {
    bars.isLive = isLive
    bars.peak = -1
  }
  const step = 0.25 / Math.max(25, width)
  bars.isPercent = levels.rfPercent !== null
  bars.antennas = levels.antennas
  bars.rfTone = levels.rfTone
  const rf = hasAntennas ? shareOf(levels.rfA, rfShare) : (rfShareOf(levels) ?? -1)
  bars.rf = glide(bars.rf, rf, elapsed, step)
  if (hasAntennas) bars.rfB = glide(bars.rfB, shareOf(levels.rfB, rfShare), elapsed, step)
  bars.audio = glide(bars.audio, shareOf(audio, audioShare), elapsed, step)
  bars.audioPeak = shareOf(audioPeak, audioShare)
  // Meters do not move while values are stale.
  if (isLive) holdPeak(bars, shareOf(audioPeak ?? audio, audioShare), elapsed, now)
  const hasMoved =
    bars.rf !== before.rf || bars.rfB !== before.rfB || bars.audio !== before.audio || bars.peak !== before.peak
  return hasMoved || (isLive && bars.peak > bars.audio)
}

function shareOf(value: number | null, toShare: (value: number) => number): number {
  return value === null ? -1 : toShare(value)
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

function drawingOf({ rf, rfB, audio, audioPeak, peak, isPercent, antennas, rfTone, isLive }: Bars, width: number) {
  const pixels = (share: number) => Math.round(share * width)
  return {
    ...{ rf: pixels(rf), rfB: pixels(rfB), audio: pixels(audio), audioPeak: pixels(audioPeak), peak: pixels(peak) },
    ...{ isPercent, antennas, rfTone, isLive },
  }
}

function isSame(a: Drawing, b: Drawing): boolean {
  const isAsLong = a.rf === b.rf && a.rfB === b.rfB && a.audio === b.audio
  const hasSamePeak = a.audioPeak === b.audioPeak && a.peak === b.peak
  const isAlike = a.isPercent === b.isPercent && a.antennas === b.antennas && a.rfTone === b.rfTone
  return isAsLong && hasSamePeak && isAlike && a.isLive === b.isLive
}

interface Canvas {
  readonly context: CanvasRenderingContext2D
  readonly drawing: Drawing
  readonly box: Box
  readonly palette: Palette
  readonly hasAntennas: boolean
  readonly barShare: number
}

/** The bar of an antenna that is not in use is thin and grey. */
function drawBars({ context, drawing, box, palette, hasAntennas, barShare }: Canvas) {
  const { rf, rfB, antennas, isPercent } = drawing
  const { left, width } = box
  const rows = hasAntennas ? 3 : 2
  const rowHeight = box.height / rows
  const barHeight = Math.max(2, Math.round(rowHeight * barShare))
  const thin = Math.max(1, Math.round(devicePixelRatio))
  context.clearRect(left, box.top, width, box.height)
  const fillOf = (row: number): Fill => {
    const top = box.top + Math.round(row * rowHeight + (rowHeight - barHeight) / 2)
    return (colour, from, to, height = barHeight) => {
      if (to <= from) return
      context.fillStyle = colour
      context.fillRect(left + from, top + Math.round((barHeight - height) / 2), to - from, height)
    }
  }
  const drawRf = (row: number, level: number, isUsed: boolean) => {
    const fill = fillOf(row)
    fill(palette.track, 0, width)
    fill(
      isUsed ? rfColour(drawing, palette) : palette.old,
      0,
      level,
      isUsed ? barHeight : Math.max(1, Math.round(barHeight / 2)),
    )
    for (const tick of isPercent && !hasAntennas ? [] : rfTicks) {
      fill(palette.tick, Math.round(tick * width), Math.round(tick * width) + thin)
    }
  }
  const isUsed = (letter: string) => !antennas || antennas.includes(letter)
  drawRf(0, rf, !hasAntennas || isUsed('A'))
  if (hasAntennas) drawRf(1, rfB, isUsed('B'))
  drawAudio(fillOf(rows - 1), drawing, { width, thin, palette })
}

type Fill = (colour: string, from: number, to: number, height?: number) => void

interface AudioStyle {
  readonly width: number
  readonly thin: number
  readonly palette: Palette
}

/** The level, the peak level as a thin line to its right, and the held peak as a mark. */
function drawAudio(fill: Fill, { audio, audioPeak, peak, isLive }: Drawing, { width, thin, palette }: AudioStyle) {
  const [high, over] = [Math.round(highFrom * width), Math.round(overFrom * width)]
  const colourAt = (at: number) => (at >= over ? palette.audioOver : at >= high ? palette.audioHigh : palette.audio)
  fill(palette.track, 0, width)
  if (isLive) {
    fill(palette.audio, 0, Math.min(audio, high))
    fill(palette.audioHigh, high, Math.min(audio, over))
    fill(palette.audioOver, over, audio)
    fill(colourAt(audioPeak), Math.max(0, audio), audioPeak, 2 * thin)
    if (peak > 0) {
      const at = Math.min(width - 2 * thin, peak)
      fill(peak >= over ? palette.audioOver : palette.peak, at, at + 2 * thin)
    }
  }
  for (const tick of audioTicks) fill(palette.tick, Math.round(tick * width), Math.round(tick * width) + thin)
}

function rfColour({ rfTone, isLive }: Drawing, palette: Palette): string {
  if (!isLive) return palette.old
  return { weak: palette.rfWeak, fair: palette.rfFair, good: palette.rf }[rfTone]
}

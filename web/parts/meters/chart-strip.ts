import { type ChartSamples, sampleCount } from '../../app/history.ts'
import type { Box, Painting, Palette } from '../../app/painter.ts'
import { audioShare } from '../../app/scale.ts'
import type { Levels } from '../../app/watch.ts'

interface ChartOptions {
  readonly element: HTMLElement
  readonly channelId: number
  readonly history: ChartSamples
  read(): Levels
}

const drawIntervalMs = 1_000

export function createChartStrip({ element, channelId, history, read }: ChartOptions): Painting {
  // Staggered, so that no frame draws all charts.
  let dueAt = performance.now() + (channelId % 30) * (drawIntervalMs / 30)
  return {
    element,
    isDirty: true,
    step(now) {
      if (now < dueAt) return false
      dueAt = Math.max(dueAt + drawIntervalMs, now + drawIntervalMs / 2)
      this.isDirty = true
      return false
    },
    draw(context, box, palette) {
      context.fillStyle = palette.track
      context.fillRect(box.left, box.top, box.width, box.height)
      const { isLive } = read()
      const samples = history.of(channelId)
      if (samples === undefined) return
      const { head } = history
      drawArea(context, { box, ring: samples.audio, head, colour: isLive ? palette.audio : palette.old })
      drawLine(context, { box, ring: samples.rf, head, colour: isLive ? palette.rf : palette.peak })
    },
  }
}

interface Trace {
  readonly box: Box
  readonly ring: Float32Array
  readonly head: number
  readonly colour: Palette[keyof Palette]
}

/** Whole pixels have sharp edges. A path would not be faster. */
function drawArea(context: CanvasRenderingContext2D, { box, ring, head, colour }: Trace) {
  const bottom = box.top + box.height
  context.globalAlpha = 0.55
  context.fillStyle = colour
  for (let index = 0; index < sampleCount; index++) {
    const value = ring[(head + index) % sampleCount] ?? Number.NaN
    if (Number.isNaN(value)) continue
    const [left, top] = [xOf(box, index), yOf(box, audioShare(value))]
    context.fillRect(left, top, xOf(box, index + 1) - left, bottom - top)
  }
  context.globalAlpha = 1
}

/** A horizontal segment for each sample and a vertical one to the previous sample. */
function drawLine(context: CanvasRenderingContext2D, { box, ring, head, colour }: Trace) {
  const thick = Math.max(1, Math.round(1.5 * devicePixelRatio))
  // The next drawing would not erase anything below the box.
  const lowest = box.top + box.height - thick
  context.fillStyle = colour
  let before = Number.NaN
  for (let index = 0; index < sampleCount; index++) {
    const value = ring[(head + index) % sampleCount] ?? Number.NaN
    const y = Math.min(lowest, yOf(box, value))
    if (!Number.isNaN(value)) {
      const from = Number.isNaN(before) ? y : before
      const left = xOf(box, index)
      const width = Math.max(1, xOf(box, index + 1) - left)
      context.fillRect(left, Math.min(from, y), width, Math.abs(y - from) + thick)
    }
    before = Number.isNaN(value) ? Number.NaN : y
  }
}

function xOf(box: Box, index: number): number {
  return box.left + Math.round((index / sampleCount) * box.width)
}

function yOf(box: Box, share: number): number {
  return box.top + 1 + Math.round((1 - share) * (box.height - 2))
}

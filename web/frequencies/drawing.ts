import type { BandStatus, Severity } from '../../src/contract/values.ts'
import type { TvChannel } from '../../src/domain/frequencies/tv-raster.ts'
import { formatDbm } from '../app/format.ts'
import { statusText } from './band-text.ts'
import type { ShownCarrier } from './carriers.ts'
import type { SpectrumColours } from './colours.ts'
import {
  bottomDbm,
  dbmToY,
  keepInside,
  khzToX,
  type Label,
  labelRows,
  lanes,
  lowerBound,
  type Plot,
  placeLabels,
  type Scale,
  type Trace,
  ticksOf,
  tickText,
  topDbm,
  unknownDbm,
  visiblePoints,
} from './layout.ts'
import type { CarrierLevels, RecordedNoise } from './live-levels.ts'
import { type LiveSpectrum, sweepTrace } from './live-spectrum.ts'

export interface Stage {
  readonly context: CanvasRenderingContext2D
  readonly scale: Scale
  readonly height: number
  readonly plot: Plot
  readonly colours: SpectrumColours
  levelsOf(carrier: ShownCarrier): CarrierLevels
}

export interface Hit {
  readonly khz: number
  readonly severity: Severity
  readonly isSelected: boolean
}

/** A band for wireless microphones, or one in which they are forbidden. */
export interface ShownBand {
  readonly fromKhz: number
  readonly toKhz: number
  readonly status: BandStatus
}

export interface Scene {
  readonly carriers: readonly ShownCarrier[]
  /** The most severe conflict of each victim. */
  readonly victims: ReadonlyMap<string, Severity>
  /** The carriers of the selected conflict, or the selected carrier. */
  readonly highlighted: ReadonlySet<string>
  readonly hits: readonly Hit[]
  readonly noise: ReadonlyMap<string, RecordedNoise>
  /** Third-order products near carriers in kHz, sorted. */
  readonly products: Int32Array
  readonly bands: readonly ShownBand[]
  readonly tvChannels: readonly TvChannel[]
  readonly tvInUse: ReadonlySet<string>
  readonly traces: readonly { readonly trace: Trace; readonly colour: number }[]
}

const textPx = 11
const font = ({ font }: SpectrumColours, weight = 500) => `${weight} ${textPx}px ${font}`

const bandColours = { free: 'ok', licensed: 'info', temporary: 'info', forbidden: 'critical' } as const
const [bandHeight, hatchPx] = [4, 10]

/** A background with the status in words; a forbidden band is also hatched. */
export function drawBands({ context, scale, plot, colours }: Stage, { bands }: Scene): void {
  context.font = font(colours)
  context.textAlign = 'left'
  context.textBaseline = 'bottom'
  for (const { fromKhz, toKhz, status } of bands) {
    const left = Math.max(0, khzToX(fromKhz, scale))
    const right = Math.min(scale.width, khzToX(toKhz, scale))
    if (right <= left) continue
    const [width, height] = [right - left, plot.bottom - plot.top]
    context.fillStyle = colours[bandColours[status]]
    context.globalAlpha = 0.07
    context.fillRect(left, plot.top, width, height)
    if (status === 'forbidden') hatch(context, { left, right, top: plot.top, bottom: plot.bottom })
    context.globalAlpha = 0.8
    context.fillRect(left, plot.bottom - bandHeight, width, bandHeight)
    context.globalAlpha = 1
    const text = statusText(status)
    if (context.measureText(text).width + 12 > width) continue
    context.fillStyle = colours.textSoft
    context.fillText(text, left + 6, plot.bottom - bandHeight - 2)
  }
}

interface Area {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

function hatch(context: CanvasRenderingContext2D, { left, right, top, bottom }: Area): void {
  context.save()
  context.beginPath()
  context.rect(left, top, right - left, bottom - top)
  context.clip()
  context.strokeStyle = context.fillStyle
  context.globalAlpha = 0.22
  context.lineWidth = 1
  context.beginPath()
  const height = bottom - top
  for (let x = Math.floor((left - height) / hatchPx) * hatchPx; x < right; x += hatchPx) {
    context.moveTo(x, bottom)
    context.lineTo(x + height, top)
  }
  context.stroke()
  context.restore()
}

export function drawTvChannels({ context, scale, plot, colours }: Stage, { tvChannels, tvInUse }: Scene): void {
  context.font = font(colours)
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.lineWidth = 1
  for (const { name, fromKhz, toKhz } of tvChannels) {
    const [left, right] = [khzToX(fromKhz, scale), khzToX(toKhz, scale)]
    if (right < 0 || left > scale.width) continue
    const isInUse = tvInUse.has(name)
    if (isInUse) {
      context.fillStyle = colours.tvInUse
      context.globalAlpha = 0.16
      context.fillRect(left, 0, right - left, plot.bottom)
      context.globalAlpha = 1
      context.fillRect(left + 1, 0, Math.max(1, right - left - 2), 3)
    }
    context.strokeStyle = colours.lineStrong
    context.globalAlpha = 0.5
    if (right - left > 4) context.strokeRect(Math.round(left) + 0.5, 0.5, Math.round(right - left), lanes.tv - 2)
    context.globalAlpha = 1
    if (right - left < 22) continue
    context.fillStyle = isInUse ? colours.text : colours.textSoft
    const middle = (Math.max(0, left) + Math.min(scale.width, right)) / 2
    context.fillText(right - left > 70 && isInUse ? `${name} ●` : name, middle, lanes.tv / 2 + 1)
  }
}

export function drawGrid({ context, scale, height, plot, colours }: Stage): void {
  context.strokeStyle = colours.line
  context.fillStyle = colours.textSoft
  context.lineWidth = 1
  context.font = font(colours)
  context.textBaseline = 'middle'
  context.beginPath()
  context.textAlign = 'center'
  const bottom = height - lanes.axis
  for (const khz of ticksOf(scale)) {
    const x = Math.round(khzToX(khz, scale)) + 0.5
    context.moveTo(x, plot.top)
    context.lineTo(x, bottom + 4)
    context.fillText(tickText(khz), Math.min(scale.width - 16, Math.max(16, x)), height - lanes.axis / 2 + 2)
  }
  for (let dbm = topDbm; dbm >= bottomDbm; dbm -= 20) {
    const y = Math.round(dbmToY(dbm, plot)) + 0.5
    context.moveTo(0, y)
    context.lineTo(scale.width, y)
  }
  context.stroke()
}

export function drawLevels({ context, plot, colours }: Stage): void {
  context.font = font(colours)
  context.textAlign = 'left'
  context.textBaseline = 'bottom'
  context.fillStyle = colours.textSoft
  for (let dbm = topDbm - 20; dbm > bottomDbm; dbm -= 20) context.fillText(formatDbm(dbm), 4, dbmToY(dbm, plot) - 1)
}

export function drawTraces({ context, scale, plot, colours }: Stage, { traces }: Scene): void {
  context.lineWidth = 1
  context.lineJoin = 'bevel'
  for (const { trace, colour } of traces) {
    context.strokeStyle = colours.traces[colour % colours.traces.length] ?? colours.text
    context.beginPath()
    followTrace(context, trace, scale, plot)
    context.stroke()
  }
}

/** Returns where the path begins and ends; null if no point is near the visible part. */
function followTrace(context: CanvasRenderingContext2D, trace: Trace, scale: Scale, plot: Plot) {
  const { khz, dbm } = visiblePoints(trace, scale)
  for (let index = 0; index < khz.length; index++) {
    const [x, y] = [khzToX(khz[index] as number, scale), dbmToY(dbm[index] as number, plot)]
    if (index === 0) context.moveTo(x, y)
    else context.lineTo(x, y)
  }
  if (khz.length === 0) return null
  return { firstX: khzToX(khz[0] as number, scale), lastX: khzToX(khz.at(-1) as number, scale) }
}

/** The maximum as an area, and the last sweep as a line. Both are faint and dashed once the source has ended. */
export function drawLiveSpectrum({ context, scale, plot, colours }: Stage, live: LiveSpectrum): void {
  const sweeps = live.sweeps()
  if (sweeps === null) return
  const isRunning = live.isRunning()
  context.lineWidth = 1
  context.lineJoin = 'bevel'
  context.setLineDash(isRunning ? [] : [2, 3])
  context.strokeStyle = colours.textSoft
  context.fillStyle = colours.textSoft
  context.beginPath()
  const ends = followTrace(context, sweepTrace(sweeps, sweeps.max), scale, plot)
  if (ends !== null) {
    context.globalAlpha = isRunning ? 0.6 : 0.3
    context.stroke()
    context.lineTo(ends.lastX, plot.bottom)
    context.lineTo(ends.firstX, plot.bottom)
    context.globalAlpha = isRunning ? 0.18 : 0.08
    context.fill()
  }
  context.globalAlpha = isRunning ? 1 : 0.4
  context.strokeStyle = colours.text
  context.beginPath()
  followTrace(context, sweepTrace(sweeps, sweeps.last), scale, plot)
  context.stroke()
  context.globalAlpha = 1
  context.setLineDash([])
}

/** A faint tick for each product near a carrier, a coloured line for each that hits one. */
export function drawProducts({ context, scale, plot, colours }: Stage, { products, hits }: Scene): void {
  context.fillStyle = colours.lineStrong
  const end = scale.fromKhz + scale.widthKhz
  let drawnX = Number.NEGATIVE_INFINITY
  for (let index = lowerBound(products, scale.fromKhz); index < products.length; index++) {
    const khz = products[index] as number
    if (khz > end) break
    const x = Math.round(khzToX(khz, scale))
    if (x === drawnX) continue
    drawnX = x
    context.fillRect(x, plot.bottom + 5, 1, lanes.products - 9)
  }
  for (const { khz, severity, isSelected } of hits) {
    if (khz < scale.fromKhz || khz > end) continue
    const x = Math.round(khzToX(khz, scale))
    context.fillStyle = colours[severity]
    context.fillRect(x, plot.bottom + 1, isSelected ? 3 : 2, lanes.products - 1)
    if (isSelected) context.fillRect(x, plot.top, 1, plot.bottom - plot.top)
  }
}

export function headDbm({ state }: ShownCarrier, { rf }: CarrierLevels): number {
  return state === 'on' ? (rf ?? unknownDbm) : unknownDbm
}

export function drawCarriers(stage: Stage, scene: Scene): void {
  const { context, scale, plot, colours } = stage
  const { carriers, victims, highlighted } = scene
  for (const carrier of carriers) {
    const x = Math.round(khzToX(carrier.khz, scale)) + 0.5
    if (x < -20 || x > scale.width + 20) continue
    const isHighlighted = highlighted.has(carrier.id)
    context.globalAlpha = highlighted.size > 0 && !isHighlighted ? 0.35 : 1
    const levels = stage.levelsOf(carrier)
    drawNoise(stage, x, { now: levels.noise, recorded: scene.noise.get(carrier.id) })
    const y = dbmToY(headDbm(carrier, levels), plot)
    const severity = victims.get(carrier.id)
    const colour = isHighlighted ? colours.accent : colours[carrier.state]
    // Rectangles are drawn faster than lines.
    const width = isHighlighted ? 3 : carrier.state === 'on' ? 2 : 1
    context.fillStyle = colour
    context.fillRect(Math.round(x - width / 2), y, width, plot.bottom - y)
    drawHead(stage, { x, y, carrier, colour, conflict: severity === undefined ? null : colours[severity] })
  }
  context.globalAlpha = 1
}

function drawNoise(
  { context, plot, colours }: Stage,
  x: number,
  { now, recorded }: { readonly now: number | null; readonly recorded: RecordedNoise | undefined },
): void {
  const { globalAlpha } = context
  const fillTo = (dbm: number, width: number) => {
    const top = dbmToY(dbm, plot)
    context.fillRect(x - width / 2, top, width, plot.bottom - top)
  }
  context.fillStyle = recorded?.is_high ? colours.warning : colours.noise
  if (recorded !== undefined) {
    context.globalAlpha = globalAlpha * 0.35
    fillTo(recorded.highest_dbm, 9)
    context.globalAlpha = globalAlpha
  }
  context.fillStyle = colours.noise
  if (now !== null) fillTo(now, 5)
}

interface Head {
  readonly x: number
  readonly y: number
  readonly carrier: ShownCarrier
  readonly colour: string
  readonly conflict: string | null
}

/** Victim: triangle. On: full circle. Off: circle. Planned or offline: diamond. */
function drawHead({ context, colours }: Stage, { x, y, carrier: { state }, colour, conflict }: Head): void {
  const shape = conflict !== null ? 'triangle' : state === 'planned' || state === 'offline' ? 'diamond' : 'circle'
  // Filled areas are drawn faster than outlines.
  context.fillStyle = conflict ?? colour
  fillShape(context, shape, { x, y, size: 4.75 })
  if (conflict !== null || state === 'on') return
  context.fillStyle = colours.page
  fillShape(context, shape, { x, y, size: 3.25 })
}

function fillShape(
  context: CanvasRenderingContext2D,
  shape: 'triangle' | 'diamond' | 'circle',
  { x, y, size }: { readonly x: number; readonly y: number; readonly size: number },
): void {
  context.beginPath()
  if (shape === 'triangle') {
    context.moveTo(x, y - size - 2)
    context.lineTo(x + size + 1.5, y + size)
    context.lineTo(x - size - 1.5, y + size)
  } else if (shape === 'diamond') {
    context.moveTo(x, y - size)
    context.lineTo(x + size, y)
    context.lineTo(x, y + size)
    context.lineTo(x - size, y)
  } else context.arc(x, y, size - 0.5, 0, 2 * Math.PI)
  context.fill()
}

export interface PlacedNames {
  readonly scene: Scene
  readonly khzPerPx: number
  readonly rows: readonly (number | null)[]
  readonly widthsPx: readonly number[]
}

/** The previous rows if nothing has changed. */
export function placeNames({ context, scale, colours }: Stage, scene: Scene, previous: PlacedNames | null) {
  const khzPerPx = scale.widthKhz / Math.max(1, scale.width)
  if (previous !== null && previous.scene === scene && previous.khzPerPx === khzPerPx) return previous
  context.font = font(colours)
  const labels = scene.carriers.map(
    ({ id, khz, label }): Label => ({
      khz,
      widthPx: context.measureText(label).width,
      rank: scene.highlighted.has(id) ? 0 : scene.victims.has(id) ? 1 : 2,
    }),
  )
  return { scene, khzPerPx, rows: placeLabels(labels, khzPerPx), widthsPx: labels.map(({ widthPx }) => widthPx) }
}

export function drawNames(
  { context, scale, plot, colours }: Stage,
  { carriers, highlighted }: Scene,
  names: PlacedNames,
) {
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  const placed = carriers.flatMap(({ id, khz, label }, index) => {
    const [row = null, widthPx = 0] = [names.rows[index], names.widthsPx[index]]
    return row === null ? [] : { id, label, row, widthPx, x: khzToX(khz, scale) }
  })
  const middles = keepInside(placed, scale.width)
  for (const [index, { id, label, row }] of placed.entries()) {
    const middle = middles[index] ?? null
    if (middle === null) continue
    const isHighlighted = highlighted.has(id)
    context.font = font(colours, isHighlighted ? 700 : 500)
    context.fillStyle = isHighlighted ? colours.accent : highlighted.size > 0 ? colours.textSoft : colours.text
    const y = plot.top - lanes.names + (row + 0.5) * (lanes.names / labelRows)
    context.fillText(label, Math.round(middle), Math.round(y))
  }
}

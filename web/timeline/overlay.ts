import type { ClipWaveform } from '../../src/contract/clips.ts'
import type { EventBody } from '../../src/contract/history.ts'
import type { ShowBody } from '../../src/contract/shows.ts'
import {
  formatDay,
  formatDbfs,
  formatDbm,
  formatPercent,
  formatPreciseTime,
  formatTimeLeft,
  plainText,
} from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { audioShare, batteryShare, rfShare } from '../app/scale.ts'
import { categoryOf, type EventCategory, eventDetail } from '../parts/events.ts'
import type { ClipMark } from './clip-marks.ts'
import type { OverlayColours } from './colours.ts'
import type { StepValues } from './fold.ts'
import type { Mark } from './marks.ts'
import { areasOf, type Lane } from './raster.ts'
import type { Tick } from './ticks.ts'

type Context = CanvasRenderingContext2D

export const headerRows = { axis: 20, shows: 18, marks: 20 } as const
export const headerHeight = headerRows.axis + headerRows.shows + headerRows.marks

/** Half the size of a mark, in CSS pixels. */
const markPx = 5

/** Everything is in CSS pixels; `toX` converts epoch ms. */
export interface Stage {
  readonly context: Context
  readonly width: number
  readonly height: number
  readonly colours: OverlayColours
  toX(at: number): number
}

function setFont({ context, colours }: Stage, size: number, weight = 500): void {
  context.font = `${weight} ${size}px ${colours.font}`
  context.textBaseline = 'middle'
}

export function drawTickLines({ context, height, colours, toX }: Stage, ticks: readonly Tick[]): void {
  for (const { at, isDay } of ticks) {
    context.globalAlpha = isDay ? 0.7 : 0.3
    context.fillStyle = colours.lineStrong
    context.fillRect(Math.round(toX(at)), 0, 1, height)
  }
  context.globalAlpha = 1
}

export function drawAxis(stage: Stage, ticks: readonly Tick[]): void {
  const { context, colours, toX, width } = stage
  for (const { at, label, isDay } of ticks) {
    setFont(stage, 12, isDay ? 650 : 500)
    context.fillStyle = isDay ? colours.text : colours.textSoft
    const x = toX(at) + 4
    if (x + context.measureText(label).width < width) context.fillText(label, x, headerRows.axis / 2)
    context.fillRect(Math.round(toX(at)), 4, 1, headerRows.axis - 6)
  }
}

export function drawShows(stage: Stage, shows: readonly ShowBody[], now: number): void {
  const { width, toX } = stage
  setFont(stage, 12)
  for (const { title, started_at, ended_at, starts_at, ends_at } of shows) {
    const from = started_at ?? starts_at
    if (from === null) continue
    const to = started_at === null ? ends_at : ended_at
    const end = to === null ? Math.max(now, Date.parse(from)) : Date.parse(to)
    const [left, right] = [Math.max(-2, toX(Date.parse(from))), Math.min(width + 2, toX(end))]
    if (right < 0 || left > width) continue
    drawShow(stage, { left, right, title: plainText(title), isPlanned: started_at === null }, headerRows.axis + 1)
  }
}

interface ShowBar {
  readonly left: number
  readonly right: number
  readonly title: string
  readonly isPlanned: boolean
}

export function drawShow(stage: Stage, { left, right, title, isPlanned }: ShowBar, top = 1): void {
  const { context, colours } = stage
  context.globalAlpha = isPlanned ? 0.5 : 1
  context.fillStyle = colours.show
  context.fillRect(left, top, Math.max(2, right - left), headerRows.shows - 3)
  context.globalAlpha = 1
  context.strokeStyle = colours.lineStrong
  context.lineWidth = 1
  context.strokeRect(left + 0.5, top + 0.5, Math.max(1, right - left - 1), headerRows.shows - 4)
  context.fillStyle = colours.onShow
  drawWithin(context, title, { left: Math.max(0, left) + 6, right: right - 4, y: top + 8 })
}

interface Line {
  readonly left: number
  readonly right: number
  readonly y: number
}

function drawWithin(context: Context, text: string, { left, right, y }: Line): void {
  if (context.measureText(text).width <= right - left) context.fillText(text, left, y)
}

type DrawnMark = Omit<Mark, 'event'> & { readonly event: Pick<EventBody, 'kind' | 'severity'> }

function toneOf({ severity, kind }: DrawnMark['event'], colours: OverlayColours): string {
  if (kind === 'marker') return colours.accent
  if (severity === 'critical') return colours.critical
  return severity === 'warning' ? colours.warning : colours.info
}

/** Ranges have a line to their end. */
export function drawMarks(stage: Stage, marks: readonly DrawnMark[], y: number): void {
  const { context, colours, width } = stage
  for (const { event, x, endX, count } of marks) {
    context.fillStyle = toneOf(event, colours)
    if (endX > x + 1) context.fillRect(Math.max(0, x), y - 1, Math.min(width, endX) - Math.max(0, x), 2)
    if (x < -markPx) continue
    context.strokeStyle = colours.page
    context.lineWidth = 2
    drawShape(context, categoryOf(event.kind), x, y)
    if (count > 1) {
      setFont(stage, 10, 650)
      drawOutlined(context, String(count), x + markPx + 1, y)
    }
  }
}

/** Distinct shapes can be recognized without colour. */
function drawShape(context: Context, category: EventCategory, x: number, y: number): void {
  const size = markPx
  const points: Readonly<Partial<Record<EventCategory, readonly (readonly [x: number, y: number])[]>>> = {
    rf: [
      [-1, -1],
      [1, -1],
      [0, 1],
    ],
    alert: [
      [0, -1.2],
      [1.2, 0],
      [0, 1.2],
      [-1.2, 0],
    ],
    audio: [
      [-0.9, -0.9],
      [0.9, -0.9],
      [0.9, 0.9],
      [-0.9, 0.9],
    ],
    battery: [
      [-0.6, -0.8],
      [-0.25, -0.8],
      [-0.25, -1.2],
      [0.25, -1.2],
      [0.25, -0.8],
      [0.6, -0.8],
      [0.6, 1.1],
      [-0.6, 1.1],
    ],
    marker: [
      [-0.8, 1.4],
      [-0.8, -1.2],
      [1.1, -0.5],
      [-0.4, 0.2],
      [-0.4, 1.4],
    ],
    show: [
      [-0.7, -1.1],
      [1.1, 0],
      [-0.7, 1.1],
    ],
    gap: [
      [-1, -1],
      [-0.3, -1],
      [-0.3, 1],
      [-1, 1],
      [-1, -1],
      [0.3, -1],
      [1, -1],
      [1, 1],
      [0.3, 1],
      [0.3, -1],
    ],
    equipment: [
      [-0.5, -1.1],
      [0.5, -1.1],
      [1.1, 0],
      [0.5, 1.1],
      [-0.5, 1.1],
      [-1.1, 0],
    ],
  }
  context.beginPath()
  for (const [index, [dx, dy]] of (points[category] ?? []).entries()) {
    if (index === 0) context.moveTo(x + dx * size, y + dy * size)
    else context.lineTo(x + dx * size, y + dy * size)
  }
  if (category === 'power') context.arc(x, y, size, 0, 2 * Math.PI)
  context.closePath()
  context.stroke()
  context.fill()
}

/** In the row of marks, where there is room. */
export function drawGapLabels(stage: Stage, marks: readonly Mark[], y: number): void {
  const { context, colours, width } = stage
  setFont(stage, 11)
  context.fillStyle = colours.textSoft
  for (const { event, x, endX } of marks) {
    if (event.kind !== 'recording_gap') continue
    const text = [t('events.kinds.recording_gap'), eventDetail(event)].filter(Boolean).join(': ')
    drawWithin(context, text, { left: Math.max(0, x) + 12, right: Math.min(width, endX), y: y - 7 })
  }
}

/** Narrower clips have no waveform. */
const leastWaveform = 16

/** `waveform`: null until it is loaded. */
export function drawClip(
  { context, colours, width }: Stage,
  { left, right }: Pick<ClipMark, 'left' | 'right'>,
  { top, bottom }: Lane,
  waveform: ClipWaveform | null,
): void {
  const [start, end] = [Math.max(0, Math.round(left)), Math.min(width, Math.round(right))]
  const height = bottom - top
  context.fillStyle = colours.page
  context.globalAlpha = 0.8
  context.fillRect(start, top, end - start, height)
  context.globalAlpha = right - left < leastWaveform ? 0.8 : 0.2
  context.fillStyle = colours.accent
  context.fillRect(start, top, end - start, height)
  context.globalAlpha = 1
  context.lineWidth = 1
  context.strokeStyle = colours.accent
  context.strokeRect(Math.round(left) + 0.5, Math.round(top) + 0.5, Math.round(right - left) - 1, height - 1)
  if (waveform === null || right - left < leastWaveform) return
  const { peaks } = waveform
  const perPixel = peaks.length / (right - left)
  context.fillStyle = colours.text
  for (let x = start; x < end; x++) {
    const first = Math.max(0, Math.floor((x - left) * perPixel))
    const last = Math.max(first + 1, Math.ceil((x + 1 - left) * perPixel))
    const peak = Math.max(0, ...peaks.slice(first, last))
    // The square root shows quiet sound too.
    const half = Math.max(0.5, (Math.sqrt(peak) * (height - 2)) / 2)
    context.fillRect(x, (top + bottom) / 2 - half, 1, 2 * half)
  }
}

export function drawMarkerLine(
  { context, height, colours, width }: Stage,
  { x, endX }: Pick<Mark, 'x' | 'endX'>,
): void {
  context.fillStyle = colours.accent
  context.globalAlpha = 0.5
  context.fillRect(Math.round(x), 0, 1, height)
  context.globalAlpha = 0.1
  if (endX > x + 1) context.fillRect(Math.max(0, x), 0, Math.min(width, endX) - Math.max(0, x), height)
  context.globalAlpha = 1
}

export function drawChosenRow(
  { context, colours, width }: Stage,
  { top, height }: { readonly top: number; readonly height: number },
): void {
  context.strokeStyle = colours.accent
  context.lineWidth = 2
  context.strokeRect(1, top + 1, width - 2, height - 2)
}

export function drawNow({ context, height, colours, toX }: Stage, now: number): void {
  context.fillStyle = colours.accent
  context.fillRect(Math.round(toX(now)), 0, 1, height)
}

export function drawSelected({ context, height, colours, toX }: Stage, from: number, to: number): void {
  const [left, right] = [toX(from), toX(to)]
  context.globalAlpha = 0.22
  context.fillStyle = colours.accent
  context.fillRect(left, 0, right - left, height)
  context.globalAlpha = 1
  context.fillRect(left - 1, 0, 2, height)
  context.fillRect(right - 1, 0, 2, height)
}

export function drawPlayhead({ context, height, colours, toX }: Stage, at: number): void {
  // A wider line would hide an RF dropout, which is at least three pixels wide.
  context.fillStyle = colours.text
  context.fillRect(Math.round(toX(at)), 0, 1, height)
}

export function drawPlayheadTime(stage: Stage, at: number, now: number): void {
  setFont(stage, 12, 650)
  drawBox(stage, pointText(at, now), stage.toX(at), headerRows.axis / 2)
}

/** With tenths of a second, and the date unless it is today. */
export function pointText(at: number, now: number): string {
  const [day, today] = [formatDay(at), formatDay(now)]
  return day === today ? formatPreciseTime(at) : t('timeline.dayAndTime', { day, time: formatPreciseTime(at) })
}

export function drawValues(stage: Stage, values: StepValues, at: number, y: number): void {
  setFont(stage, 11)
  drawBox(stage, valueText(values), stage.toX(at), y)
}

/** The part of a row without its name. */
interface Strip {
  readonly top: number
  readonly height: number
}

/** Below the mark of weak RF. */
export const openMarkY = 16

const laneAxes = [
  { lane: 'rf', shareOf: rfShare, format: formatDbm, values: [-40, -60, -80, -100] },
  { lane: 'audio', shareOf: audioShare, format: formatDbfs, values: [0, -20, -40] },
  { lane: 'battery', shareOf: batteryShare, format: formatPercent, values: [100, 50, 0] },
] as const

const lanesOf = ({ top, height }: Strip) => areasOf({ top, height, lanes: 3, scale: 1 })

export function drawLaneAxes(stage: Stage, strip: Strip): void {
  const { context, colours, width } = stage
  const areas = lanesOf(strip)
  setFont(stage, 11)
  context.lineWidth = 3
  context.strokeStyle = colours.page
  for (const { lane, shareOf, format, values } of laneAxes) {
    const { top, bottom }: Lane = areas[lane]
    for (const value of values) {
      const y = Math.round(bottom - 1 - shareOf(value) * (bottom - 1 - top))
      context.globalAlpha = 0.6
      context.fillStyle = colours.lineStrong
      context.fillRect(0, y, width, 1)
      context.globalAlpha = 1
      context.fillStyle = colours.textSoft
      drawOutlined(context, format(value), 4, Math.min(bottom - 6, Math.max(top + 6, y)))
    }
    const name = t(`timeline.columns.${lane}`)
    drawOutlined(context, name, width - context.measureText(name).width - 6, top + 8)
  }
}

function drawOutlined(context: Context, text: string, x: number, y: number): void {
  context.strokeText(text, x, y)
  context.fillText(text, x, y)
}

export function drawCursor({ context, colours, toX }: Stage, { top, height }: Strip, at: number): void {
  context.fillStyle = colours.textSoft
  context.fillRect(Math.round(toX(at)), top, 1, height)
}

interface Reading {
  readonly at: number
  readonly values: StepValues
  readonly now: number
}

/** Each value beside its lane; the time and the state above them. */
export function drawLaneValues(stage: Stage, strip: Strip, { at, values, now }: Reading): void {
  const { rf, audio, battery } = lanesOf(strip)
  const { state, rfMin, rfMax, audioMax, battery: percent, minutes, weakMs } = values
  const middle = ({ top, bottom }: Lane) => (top + bottom) / 2
  const rfValue = rfMin === null || rfMax === null ? null : rfText(rfMin, rfMax)
  const texts = [
    [strip.top + openMarkY, joined(pointText(at, now), stateText(state))],
    [middle(rf), joined(rfValue, weakMs > 0 ? t('timeline.weak') : null)],
    [middle(audio), audioMax === null ? '' : formatDbfs(audioMax)],
    [
      middle(battery),
      joined(percent === null ? null : formatPercent(percent), minutes === null ? null : formatTimeLeft(minutes)),
    ],
  ] as const
  setFont(stage, 12)
  for (const [y, text] of texts) if (text !== '') drawBox(stage, text, stage.toX(at), y)
}

function joined(...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null).join(' · ')
}

/** Drawn once, because drawing text takes much longer than copying it. */
interface TextBox {
  readonly image: HTMLCanvasElement
  /** CSS pixels */
  readonly width: number
}

const boxHeight = 18
const maxBoxes = 500
const boxes = new Map<string, TextBox>()

function drawBox(stage: Stage, text: string, x: number, y: number) {
  const { context, colours, width } = stage
  const name = [text, context.font, colours.text, colours.raised, devicePixelRatio].join('|')
  const box = boxes.get(name) ?? createBox(stage, text)
  boxes.delete(name)
  boxes.set(name, box)
  for (const oldest of boxes.keys()) {
    if (boxes.size <= maxBoxes) break
    boxes.delete(oldest)
  }
  const left = x + 6 + box.width > width ? Math.max(2, x - 6 - box.width) : x + 6
  const onPixel = (at: number) => Math.round(at * devicePixelRatio) / devicePixelRatio
  context.drawImage(box.image, onPixel(left), onPixel(y - boxHeight / 2), box.width, boxHeight)
}

function createBox({ context: { font }, colours }: Stage, text: string): TextBox {
  const image = document.createElement('canvas')
  const context = image.getContext('2d', { alpha: false })
  if (context === null) return { image, width: 0 }
  context.font = font
  image.width = Math.ceil((context.measureText(text).width + 10) * devicePixelRatio)
  image.height = Math.ceil(boxHeight * devicePixelRatio)
  const width = image.width / devicePixelRatio
  context.scale(devicePixelRatio, devicePixelRatio)
  context.fillStyle = colours.lineStrong
  context.fillRect(0, 0, width, boxHeight)
  context.fillStyle = colours.raised
  context.fillRect(1, 1, width - 2, boxHeight - 2)
  context.fillStyle = colours.text
  context.font = font
  context.textBaseline = 'middle'
  context.fillText(text, 5, boxHeight / 2 + 0.5)
  return { image, width }
}

const stateKeys = { '-': 'missing', x: 'offline', '0': 'off', m: 'muted', '1': 'on' } as const

export function stateText(letter: StepValues['state']): string {
  return t(`timeline.states.${stateKeys[letter]}`)
}

/** "On · RF −62 to −58 dBm · audio −20 dBFS · battery 80% · weak" */
function valueText({ state, rfMin, rfMax, audioMax, battery, weakMs }: StepValues): string {
  return joined(
    stateText(state),
    rfMin === null || rfMax === null ? null : rfText(rfMin, rfMax),
    audioMax === null ? null : formatDbfs(audioMax),
    battery === null ? null : formatPercent(battery),
    weakMs > 0 ? t('timeline.weak') : null,
  )
}

export function rfText(rfMin: number, rfMax: number): string {
  return rfMin === rfMax ? formatDbm(rfMin) : t('timeline.band', { least: formatDbm(rfMin), most: formatDbm(rfMax) })
}

import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { EventBody } from '../../src/contract/history.ts'
import type { StateLetter } from '../../src/domain/history/columns.ts'
import { formatDayTime, formatTime } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { type ChannelLevels, stateRuns } from './channel-levels.ts'

export interface HistoryChartProps {
  readonly series: 'levels' | 'levelsInPercent' | 'battery'
  readonly levels: ChannelLevels
  /** The visible range, in epoch seconds. */
  readonly from: number
  readonly to: number
  readonly events: readonly EventBody[]
  onPan(seconds: number): void
  onZoom(step: -1 | 1): void
  onNow(): void
}

type Values = keyof Pick<ChannelLevels, 'rfMin' | 'rfMax' | 'audio' | 'battery'>

interface Trace {
  readonly of: Values
  readonly label: string
  readonly scale: 'rf' | 'audio' | 'battery'
  readonly range: readonly [least: number, most: number]
  readonly colour: `--${string}`
}

const dbm = [-110, -30] as const
const percent = [0, 100] as const
const audio = { of: 'audio', label: t('channel.audio'), scale: 'audio', range: [-60, 0] } as const
const audioTrace: Trace = { ...audio, colour: '--meter-audio' }

function rfTraces(low: string, high: string, range: Trace['range']): readonly Trace[] {
  return [
    { of: 'rfMax', label: high, scale: 'rf', range, colour: '--meter-rf' },
    { of: 'rfMin', label: low, scale: 'rf', range, colour: '--meter-rf' },
  ]
}

const traces: Readonly<Record<HistoryChartProps['series'], readonly Trace[]>> = {
  levels: [...rfTraces(t('channel.rfLow'), t('channel.rfHigh'), dbm), audioTrace],
  levelsInPercent: [...rfTraces(t('channel.rfPercentLow'), t('channel.rfPercentHigh'), percent), audioTrace],
  battery: [{ of: 'battery', label: t('channel.battery'), scale: 'battery', range: percent, colour: '--ok-icon' }],
}

const whatOf: Readonly<Record<HistoryChartProps['series'], string>> = {
  levels: [t('channel.rf'), t('channel.audio')].join(', '),
  levelsInPercent: [t('channel.rfPercent'), t('channel.audio')].join(', '),
  battery: t('channel.battery'),
}

const axisSize = 48
const heights = { levels: 230, levelsInPercent: 230, battery: 130 } as const

export function HistoryChart(props: HistoryChartProps) {
  const { series, levels, from, to, onPan, onZoom, onNow } = props
  const element = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | null>(null)
  const shown = useRef(props)
  shown.current = props
  useEffect(() => {
    const container = element.current
    if (container === null) return
    const options = optionsOf(shown, container.clientWidth)
    const chart = new UPlot(options, dataOf(shown.current), container)
    plot.current = chart
    const endDragging = panByDragging(chart, shown)
    const height = heights[series]
    const observer = new ResizeObserver(() => chart.setSize({ width: container.clientWidth, height }))
    observer.observe(container)
    return () => {
      endDragging()
      observer.disconnect()
      chart.destroy()
    }
  }, [series])
  useEffect(() => plot.current?.setData(dataOf(props)))
  const press = (event: React.KeyboardEvent) => {
    const chart = plot.current
    if (chart === null || event.ctrlKey || event.metaKey || event.altKey) return
    const { key, shiftKey } = event
    const direction = key === 'ArrowLeft' ? -1 : key === 'ArrowRight' ? 1 : 0
    if (direction !== 0) {
      if (shiftKey || !moveCursor(chart, direction, levels.stepSeconds)) onPan((direction * (to - from)) / 4)
    } else if (key === '+') onZoom(-1)
    else if (key === '-') onZoom(1)
    else if (key === 'End') onNow()
    else return
    event.preventDefault()
  }
  return (
    <div
      className="history"
      ref={element}
      role="img"
      aria-label={t('channel.chartLabel', { what: whatOf[series] })}
      title={t('channel.chartKeys')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move the cursor.
      tabIndex={0}
      onKeyDown={press}
    />
  )
}

function dataOf({ series, levels }: HistoryChartProps): UPlot.AlignedData {
  const times = levels.letters.map((_, index) => levels.from + index * levels.stepSeconds)
  return [times, ...traces[series].map(({ of }) => [...levels[of]])]
}

/** Starts at the newest step. Returns false at the edge of the range. */
function moveCursor(chart: UPlot, direction: number, stepSeconds: number): boolean {
  const { min = 0, max = 0 } = chart.scales.x ?? {}
  const { left } = chart.cursor
  const hasCursor = left !== null && left !== undefined && left >= 0
  const newest = Math.floor((max ?? 0) / stepSeconds - 1) * stepSeconds
  const at = hasCursor ? chart.posToVal(left, 'x') + direction * stepSeconds : newest
  if (at < (min ?? 0) || at > (max ?? 0)) return false
  chart.setCursor({ left: chart.valToPos(at, 'x'), top: 0 })
  return true
}

function panByDragging(chart: UPlot, shown: { readonly current: HistoryChartProps }): () => void {
  const { over } = chart
  let start: { readonly x: number; readonly from: number; readonly to: number } | null = null
  const secondsOf = (x: number) => {
    const { from, to } = start ?? shown.current
    return (((start?.x ?? x) - x) / over.clientWidth) * (to - from)
  }
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return
    start = { x: event.clientX, from: shown.current.from, to: shown.current.to }
    over.setPointerCapture(event.pointerId)
  }
  const move = ({ clientX }: PointerEvent) => {
    if (start === null) return
    const seconds = secondsOf(clientX)
    chart.setScale('x', { min: start.from + seconds, max: start.to + seconds })
  }
  const up = ({ clientX }: PointerEvent) => {
    if (start === null) return
    const seconds = secondsOf(clientX)
    start = null
    if (Math.abs(seconds) * over.clientWidth > 4 * (shown.current.to - shown.current.from)) shown.current.onPan(seconds)
  }
  const cancel = () => {
    start = null
  }
  over.addEventListener('pointerdown', down)
  over.addEventListener('pointermove', move)
  over.addEventListener('pointerup', up)
  over.addEventListener('pointercancel', cancel)
  return () => {
    over.removeEventListener('pointerdown', down)
    over.removeEventListener('pointermove', move)
    over.removeEventListener('pointerup', up)
    over.removeEventListener('pointercancel', cancel)
  }
}

const day = 86_400

function clockOf(shown: { readonly current: HistoryChartProps }): UPlot.Series {
  return {
    label: t('channel.time'),
    value: (_, at) => (at === null ? t('channel.unknownValue') : axisTime(at, shown.current)),
  }
}

function axisTime(at: number, { from, to }: HistoryChartProps): string {
  return to - from >= day ? formatDayTime(at * 1_000) : formatTime(at * 1_000)
}

function optionsOf(shown: { readonly current: HistoryChartProps }, width: number): UPlot.Options {
  const { series } = shown.current
  const lines = traces[series]
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const axis: UPlot.Axis = {
    stroke: colour('--text-soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: `12px ${style.fontFamily}`,
  }
  const scales = [...new Map(lines.map((line) => [line.scale, line])).values()]
  const time: UPlot.Axis = {
    ...axis,
    values: (_, times) => times.map((at) => axisTime(at, shown.current)),
    space: 110,
  }
  return {
    width,
    height: heights[series],
    // Only the levels have a second axis, and both charts cover the same width.
    padding: [null, series === 'battery' ? axisSize : null, null, null],
    legend: { live: true },
    cursor: { drag: { x: false, y: false, setScale: false } },
    axes: [
      time,
      ...scales.map(({ scale }, index): UPlot.Axis => ({ ...axis, scale, side: index === 0 ? 3 : 1, size: axisSize })),
    ],
    scales: {
      x: { range: () => [shown.current.from, shown.current.to] },
      ...Object.fromEntries(scales.map(({ scale, range }) => [scale, { range: [...range] }])),
    },
    series: [
      clockOf(shown),
      ...lines.map(
        ({ label, scale, colour: name }): UPlot.Series => ({
          ...{ label, scale, stroke: colour(name), width: 1.5, spanGaps: false },
          points: { show: false },
        }),
      ),
    ],
    bands: series === 'battery' ? [] : [{ series: [1, 2], fill: `${colour('--meter-rf')}55` }],
    hooks: {
      drawClear: [(chart) => drawStates(chart, shown.current, colour)],
      draw: [(chart) => drawEvents(chart, shown.current.events, colour)],
    },
  }
}

const stateStyles: Readonly<
  Record<StateLetter, { readonly colour: `--${string}`; readonly isHatched: boolean } | null>
> = {
  '1': null,
  m: { colour: '--info-edge', isHatched: false },
  '0': { colour: '--idle-edge', isHatched: false },
  x: { colour: '--critical-edge', isHatched: true },
  '-': { colour: '--meter-old', isHatched: true },
}

const stateHeight = 8

function drawStates(chart: UPlot, { levels }: HistoryChartProps, colour: (name: string) => string) {
  const { ctx, bbox } = chart
  const strip = stateHeight * devicePixelRatio
  for (const { letter, from, to } of stateRuns(levels)) {
    const style = stateStyles[letter]
    if (style === null) continue
    const [left, right] = [from, to].map((at) =>
      Math.min(bbox.left + bbox.width, Math.max(bbox.left, chart.valToPos(at, 'x', true))),
    ) as [number, number]
    if (right <= left) continue
    ctx.save()
    ctx.beginPath()
    ctx.rect(left, bbox.top, Math.max(1, right - left), bbox.height)
    ctx.clip()
    ctx.fillStyle = colour(style.colour)
    ctx.strokeStyle = colour(style.colour)
    ctx.globalAlpha = 0.14
    ctx.fillRect(left, bbox.top, right - left, bbox.height)
    if (style.isHatched) hatch(ctx, left, right, chart, letter === 'x' ? 1 : -1)
    ctx.globalAlpha = 1
    ctx.fillRect(left, bbox.top + bbox.height - strip, right - left, strip)
    ctx.restore()
  }
}

/** Lines rise to the right (1) or fall (-1). */
function hatch(ctx: CanvasRenderingContext2D, left: number, right: number, { bbox }: UPlot, slope: 1 | -1) {
  const gap = 9 * devicePixelRatio
  ctx.globalAlpha = 0.45
  ctx.lineWidth = devicePixelRatio
  ctx.beginPath()
  // The lines begin at multiples of the gap, so that they stay in place while the range grows.
  for (let x = Math.floor((left - bbox.height) / gap) * gap; x < right + bbox.height; x += gap) {
    ctx.moveTo(x, bbox.top + (slope === 1 ? bbox.height : 0))
    ctx.lineTo(x + bbox.height, bbox.top + (slope === 1 ? 0 : bbox.height))
  }
  ctx.stroke()
}

function drawEvents(chart: UPlot, events: readonly EventBody[], colour: (name: string) => string) {
  const { ctx, bbox } = chart
  const [first, last] = [bbox.left, bbox.left + bbox.width]
  const size = 4 * devicePixelRatio
  ctx.save()
  for (const { time, until, severity, kind } of events) {
    const begin = chart.valToPos(Date.parse(time) / 1_000, 'x', true)
    const end = until === null ? begin : chart.valToPos(Date.parse(until) / 1_000, 'x', true)
    if (end < first || begin > last) continue
    ctx.fillStyle = colour(kind === 'marker' ? '--accent' : `--${severity}-icon`)
    ctx.fillRect(Math.max(first, begin), bbox.top, Math.max(size, Math.min(last, end) - Math.max(first, begin)), size)
    if (begin < first) continue
    ctx.globalAlpha = 0.7
    ctx.fillRect(Math.round(begin), bbox.top, Math.max(1, Math.round(devicePixelRatio)), bbox.height)
    ctx.globalAlpha = 1
  }
  ctx.restore()
}

/** RF, audio and battery of one channel over time, with a cursor that shows the values. */

import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatTime } from '../format.ts'
import { t } from '../i18n.ts'
import type { Sample } from '../session-history.ts'

interface HistoryChartProps {
  readonly samples: readonly Sample[]
  readonly series: 'levels' | 'battery'
}

/** One line of the chart: which field of a sample it plots, its label, the range of its axis, and its colour. */
interface Trace {
  readonly of: Exclude<keyof Sample, 'at'>
  readonly label: string
  readonly range: readonly [least: number, most: number]
  readonly colour: `--${string}`
}

const audio: Trace = { of: 'audio', label: t('channel.audio'), range: [-60, 0], colour: '--meter-audio' }
const traces = {
  levels: [{ of: 'rf', label: t('channel.rf'), range: [-110, -30], colour: '--meter-rf' }, audio],
  levelsInPercent: [{ of: 'rfPercent', label: t('channel.rfPercent'), range: [0, 100], colour: '--meter-rf' }, audio],
  battery: [{ of: 'battery', label: t('channel.battery'), range: [0, 100], colour: '--ok-icon' }],
} as const satisfies Record<string, readonly Trace[]>

const height = 190
/** The minimum time range. With a shorter one, all labels of the axis would show the same time. */
const minSeconds = 60

export function HistoryChart({ samples, series }: HistoryChartProps) {
  const element = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | null>(null)
  const isInPercent = series === 'levels' && samples.some((sample) => sample.rfPercent !== null)
  const shown: readonly Trace[] = traces[isInPercent ? 'levelsInPercent' : series]
  const data: UPlot.AlignedData = [
    samples.map((sample) => sample.at),
    ...shown.map(({ of }) => samples.map((sample) => sample[of])),
  ]
  const newest = useRef(data)
  newest.current = data
  useEffect(() => {
    const container = element.current
    if (container === null) return
    const chart = new UPlot(optionsOf(shown, container.clientWidth), newest.current, container)
    plot.current = chart
    const observer = new ResizeObserver(() => chart.setSize({ width: container.clientWidth, height }))
    observer.observe(container)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [shown])
  useEffect(() => plot.current?.setData(data))
  const what = shown.map(({ label }) => label).join(', ')
  return (
    <div
      className="history"
      ref={element}
      role="img"
      aria-label={t('channel.chartLabel', { what })}
      title={t('channel.chartKeys')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move the cursor.
      tabIndex={0}
      onKeyDown={(event) => {
        const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0
        if (step === 0 || plot.current === null) return
        event.preventDefault()
        moveCursor(plot.current, step)
      }}
    />
  )
}

/** Moves the cursor by one sample; without a cursor, starts at the newest one. */
function moveCursor(chart: UPlot, step: number) {
  const [times] = chart.data
  const last = times.length - 1
  if (last < 0) return
  const index = chart.cursor.idx ?? null
  const next = index === null ? last : Math.min(last, Math.max(0, index + step))
  chart.setCursor({ left: chart.valToPos(times[next] ?? 0, 'x'), top: 0 })
}

/** The time at the cursor, as shown in the legend. */
const clock: UPlot.Series = {
  label: t('channel.time'),
  value: (_, at) => (at === null ? t('channel.unknownValue') : formatTime(at * 1_000)),
}

function optionsOf(shown: readonly Trace[], width: number): UPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const axis: UPlot.Axis = {
    stroke: colour('--text-soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: `12px ${style.fontFamily}`,
  }
  const time: UPlot.Axis = { ...axis, values: (_, times) => times.map((at) => formatTime(at * 1_000)), space: 90 }
  return {
    width,
    height,
    legend: { live: true },
    axes: [
      time,
      ...shown.map(({ of }, index): UPlot.Axis => ({ ...axis, scale: of, side: index === 0 ? 3 : 1, size: 48 })),
    ],
    scales: {
      x: { range: ({ data: [times] }, from, to) => timeRange(times, from, to) },
      ...Object.fromEntries(shown.map(({ of, range }) => [of, { range: [...range] }])),
    },
    series: [
      clock,
      ...shown.map(
        ({ of, label, colour: name }): UPlot.Series => ({
          ...{ label, scale: of, stroke: colour(name), width: 1.5, spanGaps: false },
          points: { show: false },
        }),
      ),
    ],
  }
}

/** Returns the time range of the chart. uPlot passes null without samples, and a whole day for one sample. */
function timeRange(times: ArrayLike<number>, from: number | null, to: number | null): UPlot.Range.MinMax {
  const last = times[times.length - 1] ?? Math.floor(Date.now() / 1_000)
  const end = Math.min(to ?? last, last)
  return [Math.min(from ?? end, end - minSeconds), end]
}

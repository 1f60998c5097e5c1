/** RF, audio and battery of one channel over time, with a cursor that tells the values. */

import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatTime } from '../format.ts'
import type { Sample } from '../session-history.ts'
import { words } from '../words.ts'

interface HistoryChartProps {
  readonly samples: readonly Sample[]
  readonly series: 'levels' | 'battery'
}

const height = 190

export function HistoryChart({ samples, series }: HistoryChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | null>(null)
  const data = dataOf(samples, series)
  const newest = useRef(data)
  newest.current = data
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const made = new UPlot(optionsOf(series, element.clientWidth), newest.current, element)
    plot.current = made
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [series])
  useEffect(() => plot.current?.setData(data))
  const what = series === 'levels' ? `${words.channel.rf}, ${words.channel.audio}` : words.channel.battery
  return <div className="history" ref={place} role="img" aria-label={words.channel.chartLabel(what)} />
}

/** The times, as the legend tells them. */
const clock: UPlot.Series = {
  label: words.channel.time,
  value: (_, at) => (at === null ? words.channel.unknownValue : formatTime(at * 1_000)),
}

function dataOf(samples: readonly Sample[], series: HistoryChartProps['series']): UPlot.AlignedData {
  const times = samples.map((one) => one.at)
  if (series === 'battery') return [times, samples.map((one) => one.battery)]
  return [times, samples.map((one) => one.rf), samples.map((one) => one.audio)]
}

function optionsOf(series: HistoryChartProps['series'], width: number): UPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const axis: UPlot.Axis = {
    stroke: colour('--text-soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: `12px ${style.fontFamily}`,
  }
  const time: UPlot.Axis = { ...axis, values: (_, times) => times.map((at) => formatTime(at * 1_000)), space: 90 }
  const line = (label: string, scale: string, stroke: string): UPlot.Series => ({
    ...{ label, scale, stroke, width: 1.5, spanGaps: false },
    points: { show: false },
  })
  const common = { width, height, legend: { live: true }, axes: [time, { ...axis, scale: 'a', size: 48 }] }
  if (series === 'battery') {
    return {
      ...common,
      scales: { a: { range: [0, 100] } },
      series: [clock, line(words.channel.battery, 'a', colour('--good'))],
    }
  }
  return {
    ...common,
    axes: [...common.axes, { ...axis, scale: 'b', side: 1, size: 48 }],
    scales: { a: { range: [-110, -30] }, b: { range: [-60, 0] } },
    series: [
      clock,
      line(words.channel.rf, 'a', colour('--meter-rf')),
      line(words.channel.audio, 'b', colour('--meter-audio')),
    ],
  }
}

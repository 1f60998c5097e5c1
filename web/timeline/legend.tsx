import { useCallback, useEffect, useRef, useState } from 'react'
import { type EventKind, severities } from '../../src/contract/values.ts'
import { noValue, stateLetters } from '../../src/domain/history/columns.ts'
import { t } from '../app/i18n.ts'
import { useMayListen } from '../app/session.ts'
import { useColourChanges } from '../parts/canvas.ts'
import { categories, categoryNames } from '../parts/events.ts'
import { readColours, type TimelineColours } from './colours.ts'
import { type Columns, createColumns, notLoaded } from './fold.ts'
import {
  drawChosenRow,
  drawClip,
  drawCursor,
  drawMarkerLine,
  drawMarks,
  drawNow,
  drawPlayhead,
  drawSelected,
  drawShow,
  type Stage,
} from './overlay.ts'
import { drawStrip, type StripBox } from './raster.ts'

const [width, height] = [48, 24]
const [middle, markY] = [width / 2, height / 2]

interface Item {
  readonly text: string
  /** The kinds of events with this shape. */
  readonly kinds?: readonly EventKind[]
  readonly columns?: Partial<Record<keyof Columns, number>>
  draw?(stage: Stage): void
}

const stateOf = (letter: (typeof stateLetters)[number]) => stateLetters.indexOf(letter)
const on = { state: stateOf('1') }

const levels: readonly Item[] = [
  { text: t('timeline.legendItems.rf'), columns: { ...on, rfMin: -70, rfMax: -55 } },
  { text: t('timeline.weak'), columns: { ...on, rfMin: -97, rfMax: -90, weak: 1 } },
  { text: t('timeline.columns.audio'), columns: { ...on, audio: -20 } },
  { text: t('events.kinds.clipping'), columns: { ...on, audio: 0 } },
  { text: t('timeline.columns.battery'), columns: { ...on, battery: 60 } },
  { text: t('events.kinds.battery_low'), columns: { ...on, battery: 20 } },
]

const states: readonly Item[] = [
  { text: t('timeline.states.on'), columns: on },
  { text: t('timeline.states.muted'), columns: { state: stateOf('m') } },
  { text: t('timeline.states.off'), columns: { state: stateOf('0') } },
  { text: t('timeline.states.offline'), columns: { state: stateOf('x') } },
  { text: t('timeline.states.missing'), columns: { state: stateOf('-') } },
  { text: t('timeline.notLoaded'), columns: { state: notLoaded } },
]

/** Markers have one colour, all other events that of their severity. */
const marks: readonly Item[] = [
  ...categoryNames.map((category) => ({
    text: t(`timeline.categories.${category}`),
    ...(categories[category].length > 1 && { kinds: categories[category] }),
    draw: (stage: Stage) => {
      const [kind] = categories[category]
      const shown = category === 'marker' ? (['info'] as const) : severities
      for (const [index, severity] of shown.entries()) {
        const x = middle + (index - (shown.length - 1) / 2) * 15
        drawMarks(stage, [{ event: { kind, severity }, x, endX: x, count: 1 }], markY)
      }
    },
  })),
  ...severities.map((severity) => ({
    text: t(`events.ranges.${severity}`),
    draw: (stage: Stage) =>
      drawMarks(stage, [{ event: { kind: 'rf_dropout', severity }, x: 8, endX: width, count: 1 }], markY),
  })),
  {
    text: t('timeline.legendItems.count'),
    draw: (stage) =>
      drawMarks(stage, [{ event: { kind: 'muted', severity: 'info' }, x: 16, endX: 16, count: 3 }], markY),
  },
]

const show = { left: 4, right: width - 4, title: '' }

const lines: readonly Item[] = [
  { text: t('timeline.now'), draw: (stage) => drawNow(stage, middle) },
  { text: t('timeline.playhead'), draw: (stage) => drawPlayhead(stage, middle) },
  { text: t('timeline.legendItems.selected'), draw: (stage) => drawSelected(stage, 12, width - 12) },
  { text: t('timeline.legendItems.markerOfAll'), draw: (stage) => drawMarkerLine(stage, { x: 12, endX: width - 12 }) },
  { text: t('timeline.legendItems.show'), draw: (stage) => drawShow(stage, { ...show, isPlanned: false }) },
  { text: t('timeline.legendItems.plannedShow'), draw: (stage) => drawShow(stage, { ...show, isPlanned: true }) },
  { text: t('timeline.legendItems.chosen'), columns: on, draw: (stage) => drawChosenRow(stage, { top: 0, height }) },
  {
    text: t('timeline.legendItems.cursor'),
    columns: on,
    draw: (stage) => drawCursor(stage, { top: 0, height }, middle),
  },
]

const waveform = { step_ms: 20, peaks: [0.1, 0.4, 0.3, 0.5, 0.2, 0.4, 0, 0, 0.5, 0.3] }

/** For those who may listen. */
const kept: Item = {
  text: t('clips.title'),
  draw: (stage) => drawClip(stage, { left: 4, right: width - 4 }, { top: 2, bottom: height - 2 }, waveform),
}

export function Legend() {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="timeline-legend" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('timeline.legend')}</summary>
      {isOpen ? <Items /> : null}
      <p>{t('timeline.legendText')}</p>
      <p>{t('timeline.keys')}</p>
    </details>
  )
}

function Items() {
  const [colours, setColours] = useState(readColours)
  useColourChanges(useCallback(() => setColours(readColours()), []))
  const mayListen = useMayListen()
  return [levels, states, marks, mayListen ? [...lines, kept] : lines].map((items) => (
    <ul key={items[0]?.text}>
      {items.map((item) => (
        <li key={item.text}>
          <Swatch item={item} colours={colours} />
          <span>
            {item.text}
            {item.kinds === undefined ? null : (
              <small>{item.kinds.map((kind) => t(`events.kinds.${kind}`)).join(', ')}</small>
            )}
          </span>
        </li>
      ))}
    </ul>
  ))
}

function Swatch({ item, colours }: { item: Item; colours: TimelineColours }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context) return
    context.clearRect(0, 0, width, height)
    if (item.columns !== undefined) drawLevels(context, item.columns, colours)
    item.draw?.({ context, width, height, colours: colours.overlay, toX: (x) => x })
  }, [item, colours])
  return <canvas ref={canvas} width={width} height={height} />
}

function drawLevels(context: CanvasRenderingContext2D, values: NonNullable<Item['columns']>, colours: TimelineColours) {
  const image = new ImageData(width, height)
  const pixels = { data: new Uint32Array(image.data.buffer), width, height }
  const columns = createColumns(width)
  for (const name of ['rfMin', 'rfMax', 'audio', 'battery'] as const) columns[name].fill(noValue)
  for (const [name, value] of Object.entries(values)) columns[name as keyof Columns].fill(value)
  const box: StripBox = { top: 0, height, lanes: 1, scale: 1 }
  drawStrip({ pixels, columns, colours: colours.strips, box, offset: 0, first: 0, last: width })
  context.putImageData(image, 0, 0)
}

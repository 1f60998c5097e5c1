import { useEffect, useRef } from 'react'
import type { Beginning } from '../../app/channel-state.ts'
import { useServices } from '../../app/context.ts'
import { formatDbfs, formatDbm, formatPercent, formatShortDuration } from '../../app/format.ts'
import { peakOf } from '../../app/history.ts'
import { t } from '../../app/i18n.ts'
import type { Painting } from '../../app/painter.ts'
import type { Levels } from '../../app/watch.ts'
import { StateAge } from '../age.tsx'
import { createChartStrip } from './chart-strip.ts'
import { createMeterStrip } from './meter-strip.ts'

interface MetersProps {
  readonly receiverId: number
  readonly channelId: number
  readonly hasAntennas: boolean
  readonly hasPeak?: boolean
  /** The age replaces the audio level. */
  readonly since: Beginning | null
}

export function Meters({ receiverId, channelId, hasAntennas, hasPeak = false, since }: MetersProps) {
  const { watch, painter } = useServices()
  const strip = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (strip.current === null) return
    const read = () => watch.levels(receiverId, channelId)
    return painter.add(createMeterStrip({ element: strip.current, hasAntennas, read }))
  }, [watch, painter, receiverId, channelId, hasAntennas])

  return (
    <div className="meters" data-antennas={hasAntennas || undefined} data-peak={hasPeak || undefined}>
      {hasAntennas ? (
        <>
          <abbr className="meter-label" title={t('card.rfA')}>
            {t('card.antennaA')}
          </abbr>
          <Level {...{ receiverId, channelId }} textOf={antennaTextOf.a} labelOf={antennaLabelOf} />
          <abbr className="meter-label" title={t('card.rfB')}>
            {t('card.antennaB')}
          </abbr>
          <Level {...{ receiverId, channelId }} textOf={antennaTextOf.b} labelOf={antennaLabelOf} />
        </>
      ) : (
        <>
          <abbr className="meter-label" title={t('card.rfLong')}>
            {t('card.rf')}
          </abbr>
          <Level {...{ receiverId, channelId }} textOf={rfTextOf} />
        </>
      )}
      <abbr className="meter-label" title={t('card.audioLong')}>
        {t('card.audio')}
      </abbr>
      {since === null ? (
        <Level {...{ receiverId, channelId }} textOf={audioTextOf} />
      ) : (
        <span className="meter-value">
          <StateAge since={since} />
        </span>
      )}
      {hasPeak ? <HeldPeak channelId={channelId} /> : null}
      <span className="meter-strip" ref={strip} />
    </div>
  )
}

/** RF above audio, without visible labels and numbers. */
export function LevelBars({ receiverId, channelId }: Pick<MetersProps, 'receiverId' | 'channelId'>) {
  const { watch, painter } = useServices()
  const strip = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (strip.current === null) return
    const element = strip.current
    const read = () => watch.levels(receiverId, channelId)
    const removals = [
      painter.add(createMeterStrip({ element, hasAntennas: false, barShare: 0.84, read })),
      painter.add(createLevelsLabel(element, memoize(levelsText, read))),
    ]
    return () => {
      for (const remove of removals) remove()
    }
  }, [watch, painter, receiverId, channelId])
  return (
    <div
      className="level-bars"
      ref={strip}
      role="img"
      aria-label={t('wall.levels', { rf: t('card.none'), audio: t('card.none') })}
    />
  )
}

/** A screen reader does not read a tile faster than this. */
const labelIntervalMs = 5_000

/** Draws nothing. Describes the bars of `element` to assistive technology. */
function createLevelsLabel(element: HTMLElement, read: () => string): Painting {
  let labelledAt = Number.NEGATIVE_INFINITY
  return {
    element,
    isDirty: false,
    step(now) {
      if (now - labelledAt < labelIntervalMs) return false
      const text = read()
      if (text === element.ariaLabel) return false
      labelledAt = now
      element.ariaLabel = text
      return false
    },
    draw() {},
  }
}

function levelsText(levels: Levels): string {
  return t('wall.levels', { rf: rfTextOf(levels), audio: audioTextOf(levels) })
}

interface LevelProps extends Pick<MetersProps, 'receiverId' | 'channelId'> {
  textOf(levels: Levels): string
  /** The accessible name, if it differs from the text. */
  readonly labelOf?: (text: string) => string
}

/** Painted on the canvas, so it is an image with a label for assistive technology. */
export function Level({ receiverId, channelId, textOf, labelOf }: LevelProps) {
  const { watch, painter } = useServices()
  const element = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (element.current === null) return
    const read = memoize(textOf, () => watch.levels(receiverId, channelId))
    return painter.add(createLevelText({ element: element.current, read, labelOf }))
  }, [watch, painter, receiverId, channelId, textOf, labelOf])
  return <span className="meter-value" ref={element} role="img" aria-label={t('card.none')} />
}

function memoize(textOf: (levels: Levels) => string, read: () => Levels): () => string {
  let levels: Levels | null = null
  let text = ''
  return () => {
    const next = read()
    if (next === levels) return text
    levels = next
    text = textOf(next)
    return text
  }
}

function rfTextOf({ rf, rfPercent }: Levels): string {
  if (rf !== null) return formatDbm(rf)
  return rfPercent === null ? t('card.none') : formatPercent(rfPercent)
}

function HeldPeak({ channelId }: { channelId: number }) {
  const { painter, history } = useServices()
  const element = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (element.current === null) return
    const read = () => {
      const peak = peakOf(history, channelId)
      if (peak === null) return t('card.none')
      return t('card.peakAgo', { level: formatDbfs(peak.level), age: formatShortDuration(peak.ageMs) })
    }
    return painter.add(createLevelText({ element: element.current, read }))
  }, [painter, history, channelId])
  return (
    <>
      <abbr className="meter-label" title={t('card.peakLong')}>
        {t('card.peak')}
      </abbr>
      <span className="meter-value meter-peak" ref={element} role="img" aria-label={t('card.none')} />
    </>
  )
}

const inUse = '• '

export const antennaTextOf = {
  a: ({ rfA, antennas }: Levels) => antennaText(rfA, antennas?.includes('A')),
  b: ({ rfB, antennas }: Levels) => antennaText(rfB, antennas?.includes('B')),
} as const

function antennaText(level: number | null, isInUse = false): string {
  return level === null ? t('card.none') : `${isInUse ? inUse : ''}${formatDbm(level)}`
}

export function rfATextOf(levels: Levels): string {
  return levels.rfA === null ? rfTextOf(levels) : antennaTextOf.a(levels)
}

export function antennaLabelOf(text: string): string {
  return text.startsWith(inUse) ? t('card.antennaInUse', { level: text.slice(inUse.length) }) : text
}

export function qualityTextOf({ quality }: Levels): string {
  return quality === null ? t('card.none') : formatPercent(quality)
}

export function audioTextOf({ audio, isLive }: Levels): string {
  return audio === null || !isLive ? t('card.none') : formatDbfs(audio)
}

export function Chart({
  receiverId,
  channelId,
  isAsleep,
}: Pick<MetersProps, 'receiverId' | 'channelId'> & { isAsleep: boolean }) {
  const { watch, painter, history, chartFill } = useServices()
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => (isAsleep ? undefined : chartFill.show(channelId)), [chartFill, channelId, isAsleep])
  useEffect(() => {
    if (isAsleep || element.current === null) return
    const read = () => watch.levels(receiverId, channelId)
    return painter.add(createChartStrip({ element: element.current, channelId, history, read }))
  }, [watch, painter, history, receiverId, channelId, isAsleep])
  return <div className="chart" ref={element} data-asleep={isAsleep || undefined} aria-hidden="true" />
}

/** `order` must change whenever the meters move. */
export function MeterLayer({ order }: { order: string }) {
  const { painter } = useServices()
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => (canvas.current === null ? undefined : painter.attach(canvas.current)), [painter])
  useEffect(() => {
    if (order !== '') painter.remeasure()
  }, [painter, order])
  return (
    <div className="meter-layer" aria-hidden="true">
      <canvas ref={canvas} />
    </div>
  )
}

interface LevelTextOptions {
  /** Its style sets font and colour. The text becomes its accessible name, unless `labelOf` is given. */
  readonly element: HTMLElement
  read(): string
  readonly labelOf?: ((text: string) => string) | undefined
}

/** Faster changes cannot be read. */
const changeIntervalMs = 250
/** The browser computes the style, so it is read less often. */
const styleIntervalMs = 500

interface TextStyle {
  readonly font: string
  readonly colour: string
}

function readStyle({ color, fontSize, fontWeight, fontFamily }: CSSStyleDeclaration): TextStyle {
  const size = Number.parseFloat(fontSize) * devicePixelRatio
  return { font: `${fontWeight} ${size}px ${fontFamily}`, colour: color }
}

/** Painted on the canvas, because a level changes too often for the DOM. Right-aligned in its element. */
function createLevelText({ element, read, labelOf = String }: LevelTextOptions): Painting {
  const computed = getComputedStyle(element)
  let text = ''
  let changedAt = Number.NEGATIVE_INFINITY
  let style: TextStyle = { font: '', colour: '' }
  let styleReadAt = Number.NEGATIVE_INFINITY
  let drawnHeight = 0
  return {
    element,
    isDirty: true,
    step(now) {
      if (now - styleReadAt >= styleIntervalMs) {
        styleReadAt = now
        const { font, colour } = style
        style = readStyle(computed)
        if (style.font !== font || style.colour !== colour) this.isDirty = true
      }
      const next = read()
      if (next === text) return false
      if (now - changedAt < changeIntervalMs) return true
      text = next
      changedAt = now
      element.ariaLabel = labelOf(text)
      this.isDirty = true
      return false
    },
    draw(context, { left, top, width, height }) {
      // After a change of the size, text in the former font would extend beyond the box and remain there.
      if (height !== drawnHeight) style = readStyle(computed)
      drawnHeight = height
      context.clearRect(left, top, width, height)
      context.font = style.font
      context.fillStyle = style.colour
      context.textAlign = 'right'
      // The baseline of the DOM, on a whole pixel.
      const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = context.measureText('0')
      context.fillText(text, left + width, Math.floor(top + (height + above - below) / 2))
    },
  }
}

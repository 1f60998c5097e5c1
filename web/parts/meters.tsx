/** RF and audio of one channel: bars, levels and chart, painted outside of React. */

import { useEffect, useRef } from 'react'
import { createChartStrip } from '../chart-strip.ts'
import { useServices } from '../context.ts'
import { formatDbfs, formatDbm, formatPercent } from '../format.ts'
import { t } from '../i18n.ts'
import { createLevelText } from '../level-text.ts'
import { createMeterStrip } from '../meter-strip.ts'
import type { Levels } from '../store.ts'
import { Age } from './age.tsx'

interface MetersProps {
  readonly receiverId: number
  readonly channelId: number
  /** When the values became stale or the transmitter turned off; the time since then replaces the audio level. */
  readonly since: number | null
}

export function Meters({ receiverId, channelId, since }: MetersProps) {
  const { store, painter } = useServices()
  const strip = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (strip.current === null) return
    return painter.add(createMeterStrip({ element: strip.current, read: () => store.levels(receiverId, channelId) }))
  }, [store, painter, receiverId, channelId])

  return (
    <div className="meters">
      <abbr className="meter-label" title={t('card.rfLong')}>
        {t('card.rf')}
      </abbr>
      <Level {...{ receiverId, channelId }} textOf={rfTextOf} />
      <abbr className="meter-label" title={t('card.audioLong')}>
        {t('card.audio')}
      </abbr>
      {since === null ? (
        <Level {...{ receiverId, channelId }} textOf={audioTextOf} />
      ) : (
        <span className="meter-value">
          <Age since={since} isShort={true} /> {t('card.ago')}
        </span>
      )}
      <span className="meter-strip" ref={strip} />
    </div>
  )
}

type LevelProps = Omit<MetersProps, 'since'> & { textOf(levels: Levels): string }

/** A level. It is painted on the canvas, so for assistive technology it is an image whose label is the level. */
function Level({ receiverId, channelId, textOf }: LevelProps) {
  const { store, painter } = useServices()
  const element = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (element.current === null) return
    const read = () => textOf(store.levels(receiverId, channelId))
    return painter.add(createLevelText({ element: element.current, read }))
  }, [store, painter, receiverId, channelId, textOf])
  return <span className="meter-value" ref={element} role="img" aria-label={t('card.none')} />
}

function rfTextOf({ rf, rfPercent }: Levels): string {
  if (rf !== null) return formatDbm(rf)
  return rfPercent === null ? t('card.none') : formatPercent(rfPercent)
}

function audioTextOf({ audio, isLive }: Levels): string {
  return audio === null || !isLive ? t('card.none') : formatDbfs(audio)
}

/** The chart of the last minute. If `isAsleep`, its space stays empty. */
export function Chart({ receiverId, channelId, isAsleep }: Omit<MetersProps, 'since'> & { isAsleep: boolean }) {
  const { store, painter, history } = useServices()
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isAsleep || element.current === null) return
    const read = () => store.levels(receiverId, channelId)
    return painter.add(createChartStrip({ element: element.current, channelId, history, read }))
  }, [store, painter, history, receiverId, channelId, isAsleep])
  return <div className="chart" ref={element} data-asleep={isAsleep || undefined} aria-hidden="true" />
}

/** The canvas for all meters within its parent. `order` must change whenever the meters move. */
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

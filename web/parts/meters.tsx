/** RF and audio of one channel: bars, numbers and chart, painted outside of React. */

import { useEffect, useRef } from 'react'
import { createChartStrip } from '../chart-strip.ts'
import { useSurroundings } from '../context.ts'
import { formatDbfs, formatDbm, formatPercent } from '../format.ts'
import { t } from '../i18n.ts'
import { createLevelText } from '../level-text.ts'
import { createMeterStrip } from '../meter-strip.ts'
import type { Levels } from '../store.ts'
import { Age } from './age.tsx'

interface MetersProps {
  readonly receiverId: number
  readonly channelId: number
  /** From when the values are old, or gone; stands in place of the audio level, which tells nothing then. */
  readonly since: number | null
}

export function Meters({ receiverId, channelId, since }: MetersProps) {
  const { store, painter } = useSurroundings()
  const strip = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (strip.current === null) return
    return painter.add(createMeterStrip({ place: strip.current, read: () => store.levels(receiverId, channelId) }))
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

/** An image, as it is painted; its name says what it shows. */
function Level({ receiverId, channelId, textOf }: LevelProps) {
  const { store, painter } = useSurroundings()
  const place = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (place.current === null) return
    const read = () => textOf(store.levels(receiverId, channelId))
    return painter.add(createLevelText({ place: place.current, read }))
  }, [store, painter, receiverId, channelId, textOf])
  return <span className="meter-value" ref={place} role="img" aria-label={t('card.none')} />
}

function rfTextOf({ rf, rfPercent }: Levels): string {
  if (rf !== null) return formatDbm(rf)
  return rfPercent === null ? t('card.none') : formatPercent(rfPercent)
}

function audioTextOf({ audio, isLive }: Levels): string {
  return audio === null || !isLive ? t('card.none') : formatDbfs(audio)
}

/** The last minute. `isAsleep` keeps its room and leaves it empty. */
export function Chart({ receiverId, channelId, isAsleep }: Omit<MetersProps, 'since'> & { isAsleep: boolean }) {
  const { store, painter, history } = useSurroundings()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isAsleep || place.current === null) return
    const read = () => store.levels(receiverId, channelId)
    return painter.add(createChartStrip({ place: place.current, channelId, history, read }))
  }, [store, painter, history, receiverId, channelId, isAsleep])
  return <div className="chart" ref={place} data-asleep={isAsleep || undefined} aria-hidden="true" />
}

/** What all meters within its parent are painted on. `order` changes whenever they change places. */
export function MeterLayer({ order }: { order: string }) {
  const { painter } = useSurroundings()
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

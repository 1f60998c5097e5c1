/** RF and audio of one channel: bars and chart painted outside of React, and the same values as text. */

import { useEffect, useRef } from 'react'
import { createChartStrip } from '../chart-strip.ts'
import { useSurroundings } from '../context.ts'
import { createMeterStrip } from '../meter-strip.ts'
import { texts } from '../texts.ts'
import { Age } from './age.tsx'

interface MetersProps {
  readonly receiverId: number
  readonly channelId: number
  /** From when the values are old, or gone; stands in place of the audio level, which tells nothing then. */
  readonly since: number | null
}

export function Meters({ receiverId, channelId, since }: MetersProps) {
  const { store, painter } = useSurroundings()
  const place = useRef<HTMLSpanElement>(null)
  const rfText = useRef<HTMLSpanElement>(null)
  const audioText = useRef<HTMLSpanElement>(null)

  useEffect(() => {
    if (place.current === null || rfText.current === null || audioText.current === null) return
    const read = () => store.levels(receiverId, channelId)
    const says = { rfText: textIn(rfText.current), audioText: textIn(audioText.current) }
    return painter.add(createMeterStrip({ place: place.current, ...says, read }))
  }, [store, painter, receiverId, channelId])

  return (
    <div className="meters">
      <abbr className="meter-label" title={texts.card.rfLong}>
        {texts.card.rf}
      </abbr>
      <span className="meter-value" ref={rfText} />
      <abbr className="meter-label" title={texts.card.audioLong}>
        {texts.card.audio}
      </abbr>
      <span className="meter-value" ref={audioText} hidden={since !== null} />
      {since === null ? null : (
        <span className="meter-value">
          <Age since={since} isShort={true} /> {texts.card.ago}
        </span>
      )}
      <span className="meter-strip" ref={place} />
    </div>
  )
}

/** The last minute. `isAsleep` keeps its room and leaves it empty. */
export function Chart({ receiverId, channelId, isAsleep }: Omit<MetersProps, 'since'> & { isAsleep: boolean }) {
  const { store, painter, history } = useSurroundings()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isAsleep || place.current === null) return
    const isLive = () => store.levels(receiverId, channelId).isLive
    return painter.add(createChartStrip({ place: place.current, channelId, history, isLive }))
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

/** The one text of an element that React leaves empty. */
function textIn(element: HTMLElement): Text {
  const text = document.createTextNode('')
  element.replaceChildren(text)
  return text
}

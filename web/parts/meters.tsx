/** RF and audio of one channel: bars painted outside of React, and the same values as text. */

import { useEffect, useRef } from 'react'
import { useSurroundings } from '../context.ts'
import type { Levels } from '../meter-painter.ts'
import type { Store } from '../store.ts'
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
    return painter.add({
      place: place.current,
      rfText: textIn(rfText.current),
      audioText: textIn(audioText.current),
      read: () => levelsOf(store, receiverId, channelId),
    })
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

const nothing: Levels = { rf: null, audio: null, isLive: false }

function levelsOf(store: Store, receiverId: number, channelId: number): Levels {
  const receiver = store.get().receivers.get(receiverId)
  const channel = receiver?.channels.find((one) => one.id === channelId)
  const facts = store.facts(receiverId, channelId)
  if (!channel?.transmitter || !facts || !receiver?.is_active) return nothing
  return { rf: channel.transmitter.rf_level, audio: channel.transmitter.audio_level, isLive: facts.isLive }
}

/** Every channel on one screen that nobody touches. */

import { type CSSProperties, useEffect, useMemo, useRef, useState } from 'react'
import type { Command } from '../commands.ts'
import { useHouse } from '../context.ts'
import { t } from '../i18n.ts'
import { ChannelCard } from '../parts/channel-card.tsx'
import { PlannedCard, Spacer } from '../parts/empty-place.tsx'
import { HealthFooter } from '../parts/health-footer.tsx'
import { MeterLayer } from '../parts/meters.tsx'
import { Phase } from '../parts/phase.tsx'
import { CommandButtons, NotifyButton, useCommands } from '../parts/tools.tsx'
import { decodePlaces } from '../places.ts'
import { useView } from '../use-view.ts'
import type { View } from '../view.ts'
import { fitWall, type Space } from '../wall-fit.ts'

export function Wall() {
  const [view, change] = useView('wall')
  const { commands, dialog } = useCommands({ page: 'wall', view, change })
  return (
    <div className="wall">
      <main className="wall-field">
        <h1 className="for-listeners">{t('nav.wall')}</h1>
        <Phase view={view}>{(places) => <WallCards view={view} places={places} />}</Phase>
      </main>
      <HealthFooter />
      <WallTools commands={commands} />
      {dialog}
    </div>
  )
}

/** Only while somebody is there: a moment after the last movement or key they are gone. */
function WallTools({ commands }: { commands: readonly Command[] }) {
  const isSomebodyThere = useSomebodyThere(6_000)
  if (!isSomebodyThere) return null
  return (
    <section className="wall-tools" aria-label={t('live.toolbar.label')}>
      <CommandButtons commands={commands} />
      <NotifyButton />
    </section>
  )
}

function useSomebodyThere(afterMs: number): boolean {
  const [isThere, setThere] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const notice = () => {
      setThere(true)
      clearTimeout(timer)
      timer = setTimeout(() => setThere(false), afterMs)
    }
    const names = ['pointermove', 'pointerdown', 'keydown']
    for (const name of names) addEventListener(name, notice)
    return () => {
      clearTimeout(timer)
      for (const name of names) removeEventListener(name, notice)
    }
  }, [afterMs])
  return isThere
}

function WallCards({ view, places: text }: { view: View; places: string }) {
  const field = useRef<HTMLUListElement>(null)
  const room = useRoom(field)
  const places = useMemo(() => decodePlaces(text), [text])
  const group = useHouse((house) => house.groups.find((one) => one.id === view.group))
  const fit = fitWall(places.length, room, view.layout, view.detail)
  const size = {
    '--columns': fit.columns,
    '--rows': fit.rows,
    '--gap': `${fit.gap}px`,
    '--unit': `${fit.unit}px`,
  } as CSSProperties
  const hasChart = fit.step === 'full' && view.charts === 'on' && group?.hide_charts !== true
  return (
    <>
      <ul className="wall-cards" ref={field} style={size} data-layout={view.layout} aria-label={t('card.list')}>
        {places.map((place) =>
          place.kind === 'planned' ? (
            <PlannedCard key={place.slot} slot={place.slot} />
          ) : place.kind === 'spacer' ? (
            <Spacer key={place.slot} />
          ) : (
            <ChannelCard
              key={place.channelId}
              receiverId={place.receiverId}
              channelId={place.channelId}
              step={fit.step}
              hasChart={hasChart}
              isWall={true}
              hasPicture={view.pictures === 'on' && view.layout === 'grid'}
            />
          ),
        )}
      </ul>
      <MeterLayer order={`${text} ${fit.step} ${fit.unit} ${fit.columns} ${hasChart} ${view.layout}`} />
    </>
  )
}

/** The size of an element, followed as it changes. */
function useRoom(element: React.RefObject<HTMLElement | null>): Space {
  const [room, setRoom] = useState<Space>({ width: innerWidth, height: innerHeight })
  useEffect(() => {
    if (element.current === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry === undefined) return
      const { width, height } = entry.contentRect
      setRoom({ width, height })
    })
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return room
}

/** The wall: all channels on one screen. Its only controls are buttons that are hidden while there is no user input. */

import { type CSSProperties, useEffect, useMemo, useRef, useState } from 'react'
import type { Command } from '../commands.ts'
import { useWatchState } from '../context.ts'
import { t } from '../i18n.ts'
import { ChannelCards } from '../parts/channel-cards.tsx'
import { HealthFooter } from '../parts/health-footer.tsx'
import { MeterLayer } from '../parts/meters.tsx'
import { Phase } from '../parts/phase.tsx'
import { CommandButtons, NotifyButton, useCommands } from '../parts/tools.tsx'
import { useView } from '../use-view.ts'
import type { View } from '../view.ts'
import { decodeSlots } from '../visible-slots.ts'
import { fitWall, type Space } from '../wall-fit.ts'

export function Wall() {
  const [view, change] = useView('wall')
  const { commands, dialog } = useCommands({ page: 'wall', view, change })
  return (
    <div className="wall">
      <main className="wall-field">
        <h1 className="visually-hidden">{t('nav.wall')}</h1>
        <Phase view={view}>{(entries) => <WallCards view={view} entries={entries} />}</Phase>
      </main>
      <HealthFooter />
      <WallTools commands={commands} />
      {dialog}
    </div>
  )
}

/** The commands as buttons, which are visible for a few seconds after the last pointer movement or key press. */
function WallTools({ commands }: { commands: readonly Command[] }) {
  const isActive = useIsActive(6_000)
  if (!isActive) return null
  return (
    <section className="wall-tools" aria-label={t('live.toolbar.label')}>
      <CommandButtons commands={commands} />
      <NotifyButton />
    </section>
  )
}

function useIsActive(afterMs: number): boolean {
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

function WallCards({ view, entries: text }: { view: View; entries: string }) {
  const field = useRef<HTMLUListElement>(null)
  const room = useRoom(field)
  const entries = useMemo(() => decodeSlots(text), [text])
  const group = useWatchState((watchState) => watchState.groups.find((group) => group.id === view.group))
  const fit = fitWall(entries.length, room, view.layout, view.detail)
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
        <ChannelCards
          entries={entries}
          step={fit.step}
          hasChart={hasChart}
          isWall={true}
          hasPicture={view.pictures === 'on' && view.layout === 'grid'}
        />
      </ul>
      <MeterLayer order={`${text} ${fit.step} ${fit.unit} ${fit.columns} ${hasChart} ${view.layout}`} />
    </>
  )
}

/** Returns the current size of an element; the component is rendered again when it changes. */
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

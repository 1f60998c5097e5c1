import './wall.css'
import './wall-bottom.css'
import { type CSSProperties, useEffect, useMemo, useState } from 'react'
import { useWatchState } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { useIsKiosk } from '../app/query.ts'
import { StatusLine } from '../app/status-line.tsx'
import { narrow, useMedia } from '../app/use-media.ts'
import { useView } from '../app/use-view.ts'
import type { Density, View } from '../app/view.ts'
import { Phase } from '../parts/card/phase.tsx'
import { PlannedCard, Spacer } from '../parts/card/placeholder-card.tsx'
import { useVisibleSlots, type VisibleSlot } from '../parts/channels/visible-slots.ts'
import { MeterLayer } from '../parts/meters/meters.tsx'
import { useCommands } from '../parts/toolbar/tools.tsx'
import { useScreenAwake } from '../parts/toolbar/wake-lock.tsx'
import { ProblemStrip } from './problem-strip.tsx'
import { useKeptSlots } from './use-kept-slots.ts'
import { useMeasure, useNameWidth } from './use-names.ts'
import { type Fit, legibleName, maxNameWidth, paginate, type Space } from './wall-fit.ts'
import { PlaceholderTile, type TileLayout, WallTile } from './wall-tile.tsx'
import { WallTools } from './wall-tools.tsx'

export function Wall() {
  usePageTitle(t('nav.wall'))
  useScreenAwake(true)
  const [stored, change] = useView('wall')
  // A place on the wall never depends on a value.
  const view = useMemo((): View => ({ ...stored, sort: 'slot' }), [stored])
  const { commands, dialog } = useCommands({ page: 'wall', view, change })
  const turning = usePageTurning()
  const isActive = useIsActive()
  const scrolls = useMedia(narrow)
  const slots = useVisibleSlots(view)
  const entries = useKeptSlots(slots, view)
  return (
    <div className="wall" data-active={isActive || undefined} data-scrolls={scrolls || undefined}>
      <main className="wall-field">
        <h1 className="visually-hidden">{t('nav.wall')}</h1>
        <Phase view={view}>{() => <WallTiles {...{ view, entries, turning, scrolls }} />}</Phase>
      </main>
      <div className="wall-bottom">
        <ProblemStrip entries={entries} />
        <StatusLine>
          <PageIndicator turning={turning} />
        </StatusLine>
      </div>
      {isActive && view.kiosk === '0' ? <WallTools {...{ view, commands, change }} /> : null}
      {dialog}
    </div>
  )
}

const activeMs = 6_000

function useIsActive(): boolean {
  const [isActive, setActive] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const wait = () => {
      clearTimeout(timer)
      timer = setTimeout(() => (isInUse() ? wait() : setActive(false)), activeMs)
    }
    const notice = () => {
      setActive(true)
      wait()
    }
    const names = ['pointermove', 'pointerdown', 'keydown']
    for (const name of names) addEventListener(name, notice)
    return () => {
      clearTimeout(timer)
      for (const name of names) removeEventListener(name, notice)
    }
  }, [])
  return isActive
}

/** The pointer or the focus is on the controls, or a dialog is open. */
function isInUse(): boolean {
  const hover = matchMedia('(hover: hover)').matches ? '.wall-tools:hover, ' : ''
  return document.querySelector(`${hover}.wall-tools :focus-visible, dialog[open]`) !== null
}

const turnMs = 10_000

interface Turning {
  readonly count: number
  readonly index: number
  readonly isPaused: boolean
  setCount(count: number): void
  togglePause(): void
}

function usePageTurning(): Turning {
  const [count, setCount] = useState(1)
  const [turn, setTurn] = useState(0)
  const [isPaused, setPaused] = useState(false)
  const isTurning = count > 1 && !isPaused
  useEffect(() => {
    if (!isTurning) return
    const timer = setInterval(() => setTurn((turn) => turn + 1), turnMs)
    return () => clearInterval(timer)
  }, [isTurning])
  return { count, index: turn % count, isPaused, setCount, togglePause: () => setPaused(!isPaused) }
}

/** More dots than this do not fit beside the number of the page. */
const maxDots = 24

function PageIndicator({ turning: { count, index, isPaused, togglePause } }: { turning: Turning }) {
  const isKiosk = useIsKiosk()
  if (count === 1) return null
  if (isKiosk) return <span className="footer-item">{t('wall.page', { page: index + 1, count })}</span>
  return (
    <button
      type="button"
      className="wall-page"
      aria-pressed={isPaused}
      title={t(isPaused ? 'wall.resume' : 'wall.pause')}
      onClick={togglePause}
    >
      {count > maxDots ? null : (
        <span className="wall-page-dots" aria-hidden="true">
          {Array.from({ length: count }, (_, page) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a page has no other identity.
            <span key={page} className="wall-page-dot" data-current={page === index || undefined} />
          ))}
        </span>
      )}
      {t(isPaused ? 'wall.pagePaused' : 'wall.page', { page: index + 1, count })}
    </button>
  )
}

interface WallTilesProps {
  readonly view: View
  readonly entries: readonly VisibleSlot[]
  readonly turning: Turning
  readonly scrolls: boolean
}

function WallTiles({ view, entries, turning, scrolls }: WallTilesProps) {
  const [field, setField] = useState<HTMLUListElement | null>(null)
  const room = useRoom(field)
  const hidesCharts = useWatchState(({ groups }) => groups.find(({ id }) => id === view.group)?.hide_charts === true)
  const measure = useMeasure()
  const nameWidth = useNameWidth(entries, measure)
  const { density, detail } = view
  const hasCharts = view.charts === 'on' && !hidesCharts
  // Uses the names at the time the grid is made, so that a new name does not change it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above.
  const { count, perPage, fit } = useMemo(() => {
    const shape = { room, screen: Math.min(screen.width, screen.height), scrolls, density, detail, hasCharts }
    return paginate({ count: entries.length, nameWidth, ...shape })
  }, [entries, measure, room, scrolls, density, detail, hasCharts])
  const { setCount } = turning
  useEffect(() => {
    setCount(count)
    return () => setCount(1)
  }, [setCount, count])
  const from = (turning.index % count) * perPage
  const page = entries.slice(from, from + perPage)
  const size = nameSize(fit, nameWidth, density)
  const hasPictures = view.pictures === 'on'
  const layout = useMemo(() => {
    const lineWidth = (fit.cell.width - fit.unit) / size
    return { shapes: fit.shapes, lineWidth, hasPictures, measure }
  }, [fit, size, hasPictures, measure])
  return (
    <>
      <ul className="wall-cards" ref={setField} style={styleOf(fit, size)} aria-label={t('card.list')}>
        <Tiles page={page} layout={layout} />
      </ul>
      <MeterLayer order={JSON.stringify([from, entries, fit, size, hasPictures])} />
    </>
  )
}

/** Smaller if the names have become wider since the grid was made. */
function nameSize({ name, unit, cell }: Fit, nameWidth: number, density: Density): number {
  const fitting = Math.floor((cell.width - unit) / Math.min(maxNameWidth, nameWidth))
  const least = legibleName({ screen: Math.min(screen.width, screen.height), density })
  return Math.min(name, Math.max(least, fitting))
}

function styleOf({ columns, rows, gap, cell, unit }: Fit, name: number): CSSProperties {
  return {
    '--columns': columns,
    '--rows': rows,
    '--row': `${cell.height}px`,
    '--gap': `${gap}px`,
    '--name': `${name}px`,
    '--unit': `${unit}px`,
  } as CSSProperties
}

interface TilesProps {
  readonly page: readonly VisibleSlot[]
  readonly layout: TileLayout
}

function Tiles({ page, layout }: TilesProps) {
  return page.map((entry) => {
    switch (entry.kind) {
      case 'channel':
        return <WallTile key={entry.channelId} {...entry} layout={layout} />
      case 'placeholder':
        return <PlaceholderTile key={`placeholder ${entry.placeholderId}`} id={entry.placeholderId} layout={layout} />
      case 'planned':
        return <PlannedCard key={`slot ${entry.slot}`} slot={entry.slot} />
      case 'spacer':
        return <Spacer key={`slot ${entry.slot}`} />
      default:
        return entry satisfies never
    }
  })
}

function useRoom(element: HTMLElement | null): Space {
  const [room, setRoom] = useState<Space>({ width: innerWidth, height: innerHeight })
  useEffect(() => {
    if (element === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry === undefined) return
      const { width, height } = entry.contentRect
      setRoom({ width, height })
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [element])
  return room
}

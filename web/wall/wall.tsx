import { type CSSProperties, useEffect, useMemo, useState } from 'react'
import { useWatchState } from '../app/context.ts'
import { formatList } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { useIsKiosk } from '../app/query.ts'
import { StatusLine } from '../app/status-line.tsx'
import { useView } from '../app/use-view.ts'
import type { View } from '../app/view.ts'
import { Phase } from '../parts/card/phase.tsx'
import { PlannedCard, Spacer } from '../parts/card/placeholder-card.tsx'
import { MeterLayer } from '../parts/meters/meters.tsx'
import { useCommands } from '../parts/toolbar/tools.tsx'
import { useScreenAwake } from '../parts/toolbar/wake-lock.tsx'
import { type WallTile as Tile, useWallTiles } from './use-wall-tiles.ts'
import { type Fit, paginate, type Space } from './wall-fit.ts'
import { PlaceholderTile, WallTile } from './wall-tile.tsx'
import { WallTools } from './wall-tools.tsx'

export function Wall() {
  usePageTitle(t('nav.wall'))
  useScreenAwake(true)
  const [view, change] = useView('wall')
  const { commands, dialog } = useCommands({ page: 'wall', view, change })
  const turning = usePageTurning()
  const isActive = useIsActive()
  const [leftOut, setLeftOut] = useState('')
  return (
    <div className="wall" data-active={isActive || undefined}>
      <main className="wall-field">
        <h1 className="visually-hidden">{t('nav.wall')}</h1>
        <Phase view={view}>
          {(entries) => <WallTiles view={view} slots={entries} turning={turning} onLeftOut={setLeftOut} />}
        </Phase>
      </main>
      <StatusLine>
        <PageIndicator turning={turning} />
      </StatusLine>
      {isActive && view.kiosk === '0' ? <WallTools {...{ view, commands, change, leftOut }} /> : null}
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
  readonly slots: string
  readonly turning: Turning
  /** A sentence; '' if no part was omitted. */
  onLeftOut(text: string): void
}

function WallTiles({ view, slots, turning, onLeftOut }: WallTilesProps) {
  const [field, setField] = useState<HTMLUListElement | null>(null)
  const room = useRoom(field)
  const hidesCharts = useWatchState(({ groups }) => groups.find(({ id }) => id === view.group)?.hide_charts === true)
  const { tiles, widest } = useWallTiles(slots)
  const { layout, detail, attention, charts } = view
  const { pages, fit, isGrown } = useMemo(() => {
    const isFirst = attention === 'first'
    const ordered = isFirst ? [...tiles].sort((a, b) => Number(b.needsAttention) - Number(a.needsAttention)) : tiles
    const shape = { room, screen: Math.min(screen.width, screen.height), layout, detail }
    return paginate({ tiles: ordered, grows: !isFirst, widest, hasCharts: charts === 'on' && !hidesCharts, ...shape })
  }, [tiles, widest, room, layout, detail, attention, charts, hidesCharts])
  const { setCount } = turning
  useEffect(() => {
    setCount(pages.length)
    return () => setCount(1)
  }, [setCount, pages.length])
  const leftOut = leftOutText(fit, tiles.length)
  useEffect(() => {
    onLeftOut(leftOut)
    return () => onLeftOut('')
  }, [onLeftOut, leftOut])
  const page = pages[turning.index % pages.length] ?? []
  const parts = fit.parts.join(' ')
  const order = page.map(({ entry }) => entry.slot).join(' ')
  return (
    <>
      <ul
        className="wall-cards"
        ref={setField}
        style={styleOf(fit)}
        data-layout={layout}
        data-lines={fit.lines}
        data-parts={parts}
        aria-label={t('card.list')}
      >
        <Tiles page={page} parts={parts} grows={isGrown} hasPicture={view.pictures === 'on' && layout === 'grid'} />
      </ul>
      <MeterLayer order={`${order} ${parts} ${fit.unit} ${fit.columns} ${fit.rows} ${isGrown} ${layout}`} />
    </>
  )
}

function leftOutText({ leftOut }: Fit, count: number): string {
  if (leftOut.length === 0) return ''
  return t('wall.leftOut', { count, parts: formatList(leftOut.toReversed().map((part) => t(`wall.parts.${part}`))) })
}

function styleOf({ columns, rows, gap, name, unit }: Fit): CSSProperties {
  return {
    '--columns': columns,
    '--rows': rows,
    '--gap': `${gap}px`,
    '--name': `${name}px`,
    '--unit': `${unit}px`,
  } as CSSProperties
}

interface TilesProps {
  readonly page: readonly Tile[]
  readonly parts: string
  readonly grows: boolean
  readonly hasPicture: boolean
}

function Tiles({ page, ...tile }: TilesProps) {
  return page.map(({ entry }) => {
    switch (entry.kind) {
      case 'channel':
        return <WallTile key={entry.channelId} receiverId={entry.receiverId} channelId={entry.channelId} {...tile} />
      case 'placeholder':
        return <PlaceholderTile key={`placeholder ${entry.placeholderId}`} id={entry.placeholderId} />
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

import { ChevronDown, ChevronRight } from 'lucide-react'
import { type ReactNode, type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import type { ClipBody } from '../../src/contract/clips.ts'
import type { EventBody } from '../../src/contract/history.ts'
import type { Problem } from '../app/api.ts'
import { useFacts, useServices } from '../app/context.ts'
import { formatDateTime } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { serviceNow } from '../app/service-time.ts'
import { useColourChanges } from '../parts/canvas.ts'
import { SoundMark } from '../parts/card/listen-button.tsx'
import { eventDetail, eventTitle } from '../parts/events.ts'
import { StateIcon } from '../parts/state-icon.tsx'
import { useRegion } from '../parts/use-region.ts'
import { type Place, type Scene, TimelineCanvas } from './canvas.ts'
import { isPresent, type TimelineControl, type TimelineState } from './control.ts'
import { listenToGestures } from './gestures.ts'
import { createLevelLoader, type LevelLoader } from './level-loader.ts'
import { ValueTable } from './level-table.tsx'
import { type Names, useChannelName } from './names.ts'
import { headerHeight, pointText } from './overlay.ts'
import type { RowLayout } from './row-layout.ts'
import type { Row } from './use-timeline.ts'
import type { Waveforms } from './waveforms.ts'

export interface LoadStatus {
  readonly isLoading: boolean
  readonly problem: Problem | null
  readonly interruptedSites: readonly string[]
  /** Increases when levels arrive. */
  readonly version: number
}

const initialStatus: LoadStatus = { isLoading: true, problem: null, interruptedSites: [], version: 0 }

export function useLevelLoader(now: () => number, onLevels: (channelIds: readonly number[]) => void) {
  const { api } = useServices()
  const [loader, setLoader] = useState<LevelLoader | null>(null)
  const [status, setStatus] = useState<LoadStatus>(initialStatus)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let version = 0
    const publish = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        const interruptedSites = created.interruptedSites()
        setStatus({ isLoading: created.isLoading(), problem: created.problem(), interruptedSites, version })
      }, 150)
    }
    const created = createLevelLoader({
      read: (address, cancel) => api.read(address, 'object', cancel),
      now,
      onLevels(channelIds) {
        version += 1
        onLevels(channelIds)
        publish()
      },
      onStatus: publish,
    })
    setLoader(created)
    return () => {
      clearTimeout(timer)
      created.close()
    }
  }, [api, now, onLevels])
  return { loader, status }
}

interface StripsProps {
  readonly rows: readonly Row[]
  readonly openIds: readonly number[]
  readonly names: Names
  readonly more: ReactNode
  readonly scene: Scene
  readonly control: TimelineControl
  readonly settled: TimelineState
  readonly loader: LevelLoader
  readonly waveforms: Waveforms
  readonly canvas: RefObject<TimelineCanvas | null>
  readonly isSelecting: boolean
  now(): number
  neighbour(direction: 1 | -1): EventBody | null
  onEvent(event: EventBody): void
  /** Plays the clip from this time. */
  onClip(clip: ClipBody, at: number): void
  /** Opens or closes the strip. */
  onToggle(channelId: number): void
}

interface Hint {
  readonly event: EventBody
  readonly x: number
  readonly y: number
}

export function Strips(props: StripsProps) {
  const { rows, openIds, names, more, scene, control, settled, loader, waveforms, canvas, isSelecting } = props
  const { now, onToggle } = props
  const header = useRef<HTMLCanvasElement>(null)
  const strips = useRef<HTMLCanvasElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLDivElement>(null)
  const [hint, setHint] = useState<Hint | null>(null)
  const labels = useRegion<HTMLUListElement>()
  const latest = useRef(props)
  latest.current = props

  useEffect(() => {
    if (header.current === null || strips.current === null || scroller.current === null || field.current === null)
      return
    const created = new TimelineCanvas({
      ...{ header: header.current, strips: strips.current, scroller: scroller.current },
      ...{ control, loader, waveforms, now },
    })
    canvas.current = created
    created.setScene(latest.current.scene)
    const showEvent = (event: EventBody) => {
      latest.current.onEvent(event)
      const box = strips.current?.getBoundingClientRect()
      if (box === undefined) return
      const { range } = control.get()
      const share = (Date.parse(event.time) - range.from) / range.span
      setHint({ event, x: box.left + share * created.width, y: box.top })
    }
    const unlisten = listenToGestures({
      ...{ element: field.current, canvas: created, control, now },
      isSelecting: () => latest.current.isSelecting,
      onClick({ at, row, mark, clip, isAtPlayhead }: Place) {
        if (clip !== null) return latest.current.onClip(clip, at)
        const { layout } = latest.current.scene
        const channelId = row === null ? undefined : layout.ids[row]
        control.point(mark === null ? at : Date.parse(mark.event.time), channelId)
        if (mark !== null) return showEvent(mark.event)
        setHint(null)
        // In an open strip, a click elsewhere only moves the playhead.
        if (row !== null && channelId !== undefined && (isAtPlayhead || !layout.isOpen(row)))
          latest.current.onToggle(channelId)
      },
      onHover: (event, x, y) => setHint(event && { event, x, y }),
      neighbour: (direction) => latest.current.neighbour(direction),
      onEvent: showEvent,
    })
    return () => {
      canvas.current = null
      unlisten()
      created.close()
    }
  }, [control, loader, waveforms, canvas, now])
  useEffect(() => canvas.current?.setScene(scene), [canvas, scene])
  useColourChanges(useCallback(() => canvas.current?.recolour(), [canvas]))
  useScrollToOpened(scroller, scene.layout, openIds)

  return (
    <div className="strips" data-selecting={isSelecting}>
      <div className="strips-field" ref={field}>
        <canvas ref={header} className="strips-header" style={{ height: headerHeight }} />
        <div className="strips-scroller" ref={scroller} onScroll={() => canvas.current?.wake()}>
          <div className="strips-rows" style={{ height: scene.layout.height }}>
            <ul className="strips-labels" aria-label={t('timeline.channels')} ref={labels}>
              {rows.map((row, index) => (
                <Label
                  {...{ row, names, settled }}
                  key={row.channelId}
                  height={scene.layout.heightOf(index)}
                  isOpen={scene.layout.isOpen(index)}
                  onToggle={() => {
                    control.set({ channelId: row.channelId })
                    onToggle(row.channelId)
                  }}
                >
                  <ValueTable
                    {...{ rows, names, loader, channelId: row.channelId, range: settled.range, now: now() }}
                  />
                </Label>
              ))}
            </ul>
            <canvas ref={strips} className="strips-canvas" />
          </div>
          {more}
        </div>
        <Playhead settled={settled} now={now} />
      </div>
      {hint === null ? null : <EventHint hint={hint} />}
    </div>
  )
}

/** A slider for keyboard input. Its value is the time of the playhead. */
function Playhead({ settled, now }: { settled: TimelineState; now: () => number }) {
  const { range, playhead, isFollowing } = settled
  const at = playhead ?? (isFollowing ? now() : range.from + range.span / 2)
  return (
    <div
      className="strips-playhead"
      role="slider"
      tabIndex={0}
      aria-label={t('timeline.playhead')}
      aria-valuemin={Math.floor(Math.min(range.from, at) / 1_000)}
      aria-valuemax={Math.ceil(Math.max(range.from + range.span, at) / 1_000)}
      aria-valuenow={Math.round(at / 1_000)}
      aria-valuetext={t('timeline.playheadAt', { time: formatDateTime(at) })}
      aria-keyshortcuts="ArrowLeft ArrowRight Home End + -"
    />
  )
}

/** Brings a strip that was opened into view, below the ones before it. */
function useScrollToOpened(
  scroller: RefObject<HTMLDivElement | null>,
  layout: RowLayout,
  openIds: readonly number[],
): void {
  const before = useRef<readonly number[]>([])
  useEffect(() => {
    const opened = openIds.findLast((id) => !before.current.includes(id))
    before.current = openIds
    const row = layout.ids.indexOf(opened ?? 0)
    if (scroller.current === null || row === -1) return
    const { scrollTop, clientHeight } = scroller.current
    const lowest = layout.topOf(row + 1) - clientHeight
    scroller.current.scrollTop = Math.min(layout.topOf(row), Math.max(scrollTop, lowest))
  }, [scroller, layout, openIds])
}

interface LabelProps {
  readonly row: Row
  readonly names: Names
  readonly settled: TimelineState
  readonly height: number
  readonly isOpen: boolean
  /** The table of an open strip. */
  readonly children: ReactNode
  onToggle(): void
}

function Label({ row, names, settled, height, isOpen, children, onToggle }: LabelProps) {
  const facts = useFacts(row.receiverId ?? 0, row.channelId)
  const name = names.find(row)
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <li style={{ height }}>
      <button type="button" aria-expanded={isOpen} onClick={onToggle}>
        <Chevron className="icon" aria-hidden="true" />
        {name === null ? (
          <span className="strips-name">{names.text(row)}</span>
        ) : (
          <>
            <span className="strips-slot">{name.slot}</span>
            <bdi className="strips-name">{name.title}</bdi>
          </>
        )}
      </button>
      {/* Beside the past, the current state would be read as that of the past. */}
      {facts !== null && isPresent(settled) ? (
        <>
          <SoundMark facts={facts} />
          <span className="strips-state" data-severity={facts.condition.severity} title={t(`states.${facts.state}`)}>
            <StateIcon state={facts.state} />
            <span className="visually-hidden">{t(`states.${facts.state}`)}</span>
          </span>
        </>
      ) : null}
      {isOpen ? <div className="visually-hidden">{children}</div> : null}
    </li>
  )
}

function EventHint({ hint: { event, x, y } }: { hint: Hint }) {
  const name = useChannelName(event)
  const detail = eventDetail(event)
  const isRight = x > innerWidth / 2
  return (
    <div
      className="strips-hint"
      role="status"
      style={{ left: isRight ? undefined : x + 12, right: isRight ? innerWidth - x + 12 : undefined, top: y + 12 }}
    >
      <strong>{eventTitle(event)}</strong>
      {detail === null ? null : <span>{detail}</span>}
      <span>
        {pointText(Date.parse(event.time), serviceNow())}
        {name === null ? null : (
          <>
            {' · '}
            <bdi>{name}</bdi>
          </>
        )}
      </span>
    </div>
  )
}

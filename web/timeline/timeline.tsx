import { serviceNow, toIso } from '../app/service-time.ts'
import './timeline.css'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Flag, Mic, Monitor as MonitorIcon, SlidersHorizontal, Tv } from 'lucide-react'
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { ClipBody } from '../../src/contract/clips.ts'
import type { EventBody } from '../../src/contract/history.ts'
import type { ShowBody } from '../../src/contract/shows.ts'
import { groupBy } from '../../src/domain/group-by.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { readLocal, writeLocal } from '../app/local-storage.ts'
import { usePageTitle } from '../app/page-title.ts'
import { parseQuery, useSearch } from '../app/query.ts'
import { useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { useMedia } from '../app/use-media.ts'
import { LivePhase } from '../parts/card/phase.tsx'
import { useIsPrinting } from '../parts/channels/print-table.tsx'
import { ShowMore, useFirstPart } from '../parts/channels/show-more.tsx'
import { useClips } from '../parts/clips.ts'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { InterruptedSites } from '../parts/equipment/site-note.tsx'
import { concerns, endOf, type KindFilter, startOf } from '../parts/events.ts'
import { Menu } from '../parts/toolbar/menu.tsx'
import type { Scene, TimelineCanvas } from './canvas.ts'
import { ClipList } from './clip-list.tsx'
import { ClipPlayer } from './clip-player.ts'
import { createControl, isPresent, type TimelineControl, type TimelineState } from './control.ts'
import { EventList } from './event-list.tsx'
import { Legend } from './legend.tsx'
import { LevelTable, tableWidth } from './level-table.tsx'
import { draftOf, MarkerDialog, type MarkerDraft, useDeleteMarker } from './marker-dialog.tsx'
import { type Names, useNames } from './names.ts'
import { pointText } from './overlay.ts'
import { centredOn, listIds, parseTimeline } from './range.ts'
import { RowLayout } from './row-layout.ts'
import { Strips, useLevelLoader } from './strips.tsx'
import { ChannelTools, type Height, heights, RangeText, TimeTools } from './toolbar.tsx'
import { type Row, requestedTime, stateOf, useAddress, useEvents, useRows, useSettled } from './use-timeline.ts'
import { Waveforms } from './waveforms.ts'

export function Timeline() {
  usePageTitle(t('timeline.title'))
  return (
    <main className="content timeline-page" id="content" tabIndex={-1}>
      <h1>{t('timeline.title')}</h1>
      <LivePhase>
        <TimelineOfChannels />
      </LivePhase>
    </main>
  )
}

const heightKey = 'micwatch.timeline.height'
/** CSS pixels. On touch screens, a compact strip is as high as a finger is wide. */
const stripHeights: Readonly<Record<Height, number>> = { compact: 24, normal: 48, detailed: 96 }
const [touchHeight, labelHeight] = [44, 20]
/** Maximum after a jump to an event, so that it can be seen in detail. */
const eventSpan = 600_000

function TimelineOfChannels() {
  const [search, change] = useSearch()
  const address = useMemo(() => parseTimeline(parseQuery(search)), [search])
  const [control] = useState(() => createControl(stateOf(address, serviceNow()), serviceNow))
  const discretely = useAddress(control, address, serviceNow)
  const settled = useSettled(control)
  const allRows = useRows(address)
  const { channel = '', group = null, q = '', state = 'all' } = address
  const { shown: rows, hidden, showMore } = useFirstPart(allRows, JSON.stringify([channel, group, q, state]))
  const [filter, setFilter] = useState<KindFilter>('')
  const list = useEvents(settled.range, filter)
  const { body: shows } = useResource('/api/shows/', 'list', ['show'])
  const { height, setHeight, stripHeight, isNarrow } = useHeight()
  const openIds = useMemo(() => listIds(address.open ?? ''), [address.open])
  const names = useNames(timeOfNames(settled, serviceNow()))
  const canvas = useRef<TimelineCanvas | null>(null)
  const onLevels = useCallback((channelIds: readonly number[]) => canvas.current?.addLevels(channelIds), [])
  const { loader, status } = useLevelLoader(serviceNow, onLevels)
  const [isSelecting, setSelecting] = useState(false)
  const [isTable, setTable] = useState(false)
  const [chosenId, setChosenId] = useState<number | null>(null)
  const [draft, setDraft] = useState<MarkerDraft | null>(null)
  const isNothingRecorded = useIsNothingRecorded(serviceNow)
  // Sites record the levels of their channels.
  const hasSites = useWatchState(({ sites }) => sites.length > 0)
  const remove = useDeleteMarker(list.reload)
  const isPrinting = useIsPrinting()

  const layout = useMemo(
    () =>
      new RowLayout({
        ...{ ids: rows.map(({ channelId }) => channelId), openIds, stripHeight },
        ...{ labelHeight: isNarrow ? labelHeight : 0, isDetailed: height === 'detailed' },
      }),
    [rows, openIds, stripHeight, isNarrow, height],
  )
  const sound = useSound(control, settled, canvas)
  const scene = useScene(rows, layout, { events: list.events, clips: sound.clips, shows })
  const visible = useMemo(
    () => visibleEvents(list.events, allRows, settled, serviceNow()),
    [list.events, allRows, settled],
  )
  const choose = (event: EventBody) => {
    setChosenId(event.id)
    discretely(() => {
      const { span } = control.get().range
      if (span > eventSpan) control.show(centredOn(startOf(event), eventSpan))
      control.jump(startOf(event), event.channel_id)
    })
  }
  const neighbour = (direction: 1 | -1) =>
    findNeighbour(list.events, allRows, control.get().playhead ?? serviceNow(), direction)
  const channelId =
    settled.channelId !== null && rows.some((row) => row.channelId === settled.channelId) ? settled.channelId : null
  const toggle = (id: number) => {
    const next = openIds.includes(id) ? openIds.filter((openId) => openId !== id) : [...openIds, id]
    change({ open: next.length === 0 ? null : next.join() })
  }
  const newMarker = () => {
    const { playhead, selected, channelId } = control.get()
    const time = selected?.from ?? playhead ?? serviceNow()
    setDraft({ id: null, time, until: selected?.to ?? null, channelId, text: '' })
  }
  const channelTools = <ChannelTools {...{ address, height, isTable }} onHeight={setHeight} onTable={setTable} />
  return (
    <>
      <div className="timeline-toolbar screen-only">
        <TimeTools {...{ control, settled, isNarrow, discretely }} />
        {isNarrow ? (
          <Menu
            isSheet={true}
            label={t('timeline.selection')}
            button={<SlidersHorizontal className="icon" aria-hidden="true" />}
          >
            {channelTools}
          </Menu>
        ) : (
          channelTools
        )}
      </div>
      <div className="timeline-status">
        <RangeText settled={settled} />
        {status.isLoading ? <p role="status">{t('timeline.loading')}</p> : null}
        {status.problem === null || loader === null ? null : (
          <div className="not-refreshed">
            <ProblemLine problem={status.problem} />
            <button type="button" className="choice" onClick={loader.retry}>
              {t('parts.retry')}
            </button>
          </div>
        )}
        <InterruptedSites names={status.interruptedSites} />
        {names.areOfNow ? <p>{t('timeline.namesOfNow')}</p> : null}
        <RecordingState />
      </div>
      <div className="timeline-columns">
        <div className="timeline-main">
          <PointPanel
            {...{ control, settled, rows, names, isSelecting }}
            onSelecting={setSelecting}
            onMarker={newMarker}
          />
          {rows.length === 0 ? <NoChannels /> : null}
          {rows.length > 0 && isNothingRecorded && !hasSites ? (
            <p className="loading">{t('timeline.nothingRecorded')}</p>
          ) : null}
          {loader === null || rows.length === 0 || isTable || isPrinting ? null : (
            <Strips
              {...{ rows, openIds, names, scene, control, settled, loader, canvas, isSelecting, neighbour }}
              now={serviceNow}
              waveforms={sound.waveforms}
              onClip={sound.play}
              more={<ShowMore hidden={hidden} onShow={showMore} />}
              onEvent={(event) => setChosenId(event.id)}
              onToggle={toggle}
            />
          )}
          {loader !== null && rows.length > 0 && (isTable || isPrinting) ? (
            <TableOfLevels
              {...{ rows, channelId, names, settled, loader, now: serviceNow(), version: status.version }}
            />
          ) : null}
          <ClipsInRange {...{ sound, rows, names, settled }} />
          <Legend />
        </div>
        <EventList
          {...{ list, events: visible, filter, chosenId, now: serviceNow() }}
          onFilter={setFilter}
          onChoose={choose}
          onEdit={(event) => setDraft(draftOf(event))}
          onDelete={(event) => void remove(event)}
        />
      </div>
      {draft === null ? null : (
        <MarkerDialog
          draft={draft}
          onDone={() => {
            setDraft(null)
            control.select(null)
            void list.reload()
          }}
          onClose={() => setDraft(null)}
        />
      )}
    </>
  )
}

function useHeight() {
  const [height, setHeight] = useState<Height>(() => heights.find((name) => name === readLocal(heightKey)) ?? 'normal')
  const isNarrow = useMedia('(max-width: 700px)')
  const isTouch = useMedia('(pointer: coarse)')
  return {
    ...{ height, isNarrow, stripHeight: Math.max(isTouch ? touchHeight : 0, stripHeights[height]) },
    setHeight(next: Height) {
      setHeight(next)
      writeLocal(heightKey, next)
    },
  }
}

/** The playhead, or the end of the range. Null for the present, which every render would otherwise request again. */
function timeOfNames(settled: TimelineState, now: number): number | null {
  const { range, playhead } = settled
  const at = playhead ?? range.from + range.span
  return isPresent(settled) || at >= now ? null : at
}

const noShows: readonly ShowBody[] = []

function useScene(
  rows: readonly Row[],
  layout: RowLayout,
  {
    events,
    clips,
    shows,
  }: {
    readonly events: readonly EventBody[]
    readonly clips: readonly ClipBody[]
    readonly shows: readonly ShowBody[] | null
  },
): Scene {
  const sorted = useMemo(() => {
    const oldestFirst = events.toReversed()
    const eventsOf = new Map<number, EventBody[]>(rows.map(({ channelId }) => [channelId, []]))
    for (const event of oldestFirst) {
      if (event.channel_id === null && event.receiver_id === null) continue
      for (const row of rows) if (concerns(event, row)) eventsOf.get(row.channelId)?.push(event)
    }
    // Events of a whole site are only listed, because they would cover the strips of others.
    const general = oldestFirst.filter(
      ({ channel_id, receiver_id, site }) => channel_id === null && receiver_id === null && site === null,
    )
    return { eventsOf, events: general }
  }, [rows, events])
  const clipsOf = useMemo(() => groupBy(clips, ({ channel_id }) => channel_id), [clips])
  return useMemo(() => ({ layout, ...sorted, clipsOf, shows: shows ?? noShows }), [layout, sorted, clipsOf, shows])
}

const noClips: readonly ClipBody[] = []
/** A narrower clip is played from its start. CSS pixels. */
const leastAimed = 48

/** The clips of the range, and their playback, which moves the playhead. */
function useSound(control: TimelineControl, { range }: TimelineState, canvas: RefObject<TimelineCanvas | null>) {
  const { api, mount } = useServices()
  const { start, end } = requestedTime(range)
  const { clips, reload } = useClips(start, end)
  const [waveforms] = useState(() => new Waveforms(api, () => canvas.current?.wake()))
  const [player] = useState(() => new ClipPlayer(mount, (at) => control.jump(at)))
  useEffect(() => () => player.close(), [player])
  const play = (clip: ClipBody, at: number) => {
    const from = Date.parse(clip.from)
    const { span } = control.get().range
    const pixels = ((Date.parse(clip.to) - from) / span) * (canvas.current?.width ?? 0)
    const first = pixels < leastAimed ? from : at
    control.jump(first, clip.channel_id)
    void player.play(clip, first)
  }
  return { clips: clips ?? noClips, waveforms, player, play, reload }
}

interface ClipsInRangeProps {
  readonly sound: ReturnType<typeof useSound>
  readonly rows: readonly Row[]
  readonly names: Names
  readonly settled: TimelineState
}

function ClipsInRange({ sound: { clips, player, play, reload }, rows, names, settled }: ClipsInRangeProps) {
  const { from, span } = settled.range
  const shown = clips.filter(
    (clip) =>
      Date.parse(clip.to) >= from &&
      Date.parse(clip.from) <= from + span &&
      rows.some(({ channelId }) => channelId === clip.channel_id),
  )
  if (shown.length === 0) return null
  const onPlay = (clip: ClipBody) => play(clip, Date.parse(clip.from))
  return <ClipList {...{ rows, names, player, reload, onPlay }} clips={shown} now={serviceNow()} />
}

function visibleEvents(events: readonly EventBody[], rows: readonly Row[], { range }: TimelineState, now: number) {
  return events.filter((event) => {
    const start = startOf(event)
    const isInRange = start <= range.from + range.span && (endOf(event, now) ?? start) >= range.from
    return isInRange && rows.some((row) => concerns(event, row))
  })
}

/** The first event after a time, or the last one before it. */
function findNeighbour(events: readonly EventBody[], rows: readonly Row[], at: number, direction: 1 | -1) {
  const own = events.filter((event) => rows.some((row) => concerns(event, row)))
  const found =
    direction === 1 ? own.findLast((event) => startOf(event) > at) : own.find((event) => startOf(event) < at)
  return found ?? null
}

function RecordingState() {
  const isOff = useWatchState(({ config }) => config.HISTORY === false)
  const hasStopped = useWatchState(({ alerts }) => alerts.some(({ kind }) => kind === 'recording_stopped'))
  if (!isOff && !hasStopped) return null
  return (
    <p className="timeline-warning" role="alert">
      {t('timeline.notRecording', { reason: t(isOff ? 'events.gaps.off' : 'events.gaps.storage') })}
    </p>
  )
}

/** While nothing was ever recorded. */
const emptyRetryMs = 5_000

/** False until this is known. */
function useIsNothingRecorded(now: () => number): boolean {
  const { api } = useServices()
  const { data = false } = useQuery({
    queryKey: ['is nothing recorded'],
    queryFn: async () => {
      const time = toIso(Math.floor(now() / 1_000) * 1_000)
      const response = await api.read(`/api/history/at/?${new URLSearchParams({ time })}`, 'object')
      return !response.ok && response.problem.status === 404
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) => (state.data === true ? emptyRetryMs : false),
  })
  return data
}

function NoChannels() {
  const hasChannels = useWatchState(({ receivers }) => receivers.size > 0)
  return <p className="loading">{hasChannels ? t('timeline.noChannels') : t('timeline.noEquipment')}</p>
}

interface TableProps {
  readonly rows: readonly Row[]
  readonly channelId: number | null
  readonly names: Names
  readonly settled: TimelineState
  readonly loader: NonNullable<ReturnType<typeof useLevelLoader>['loader']>
  readonly now: number
  /** Increases when levels arrive, so that the table is rendered again. */
  readonly version: number
}

function TableOfLevels({ rows, channelId, names, settled, loader, now }: TableProps) {
  const { range } = settled
  useEffect(() => {
    const channelIds = channelId === null ? rows.map((row) => row.channelId) : [channelId]
    loader.request({ range, channelIds, msPerPixel: range.span / tableWidth })
  }, [loader, rows, channelId, range])
  return <LevelTable {...{ rows, channelId, names, range, loader, now }} />
}

interface PointPanelProps {
  readonly control: TimelineControl
  readonly settled: TimelineState
  readonly rows: readonly Row[]
  readonly names: Names
  readonly isSelecting: boolean
  onSelecting(isSelecting: boolean): void
  onMarker(): void
}

function PointPanel({ control, settled, rows, names, isSelecting, onSelecting, onMarker }: PointPanelProps) {
  const { mount } = useServices()
  const mayOperate = useMay('operate')
  const { playhead, selected } = settled
  const row = rows.find(({ channelId }) => channelId === settled.channelId)
  const time = playhead === null ? null : toIso(Math.floor(playhead / 1_000) * 1_000)
  return (
    <section className="timeline-point screen-only" aria-label={t('timeline.point')}>
      {playhead === null ? (
        <p>{t('timeline.noPoint')}</p>
      ) : (
        <p className="tabular">
          <strong>{pointText(playhead, serviceNow())}</strong> {row === undefined ? null : <bdi>{names.text(row)}</bdi>}
        </p>
      )}
      {row === undefined ? null : (
        <Link className="choice" to="/channels/$id" params={{ id: String(row.channelId) }}>
          <Mic className="icon" aria-hidden="true" />
          {t('timeline.channelPage')}
        </Link>
      )}
      {time === null ? null : (
        <>
          <a className="choice" href={`${mount}${pathOf('monitor')}?at=${time}`}>
            <MonitorIcon className="icon" aria-hidden="true" />
            {t('timeline.showOnMonitor')}
          </a>
          <a className="choice" href={`${mount}${pathOf('wall')}?at=${time}`}>
            <Tv className="icon" aria-hidden="true" />
            {t('timeline.showOnWall')}
          </a>
        </>
      )}
      {mayOperate ? (
        <>
          <button type="button" className="choice" onClick={onMarker}>
            <Flag className="icon" aria-hidden="true" />
            {selected === null ? t('timeline.addMarker') : t('timeline.markRange')}
          </button>
          <button type="button" className="choice" aria-pressed={isSelecting} onClick={() => onSelecting(!isSelecting)}>
            {t('timeline.selectRange')}
          </button>
        </>
      ) : null}
      {selected === null ? null : (
        <button type="button" className="choice" onClick={() => control.select(null)}>
          {t('timeline.clearSelection')}
        </button>
      )}
    </section>
  )
}

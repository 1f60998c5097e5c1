import { Link } from '@tanstack/react-router'
import { History, Pause, Play, Radio, SkipBack, SkipForward } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useSyncExternalStore } from 'react'
import type { EventBody } from '../../src/contract/history.ts'
import { allStaleSince } from '../app/channel-state.ts'
import { formatDateTime, formatShortDuration, formatTime, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { toIso } from '../app/service-time.ts'
import { publishHeight } from '../app/top-bar.tsx'
import type { Watch } from '../app/watch.ts'
import { ChoiceButtons } from '../parts/forms/choice.tsx'
import { isKeyForAnother } from '../parts/keys.ts'
import { hourOf, type ReplayPlayer, type ReplayState, speeds } from './player.ts'

interface ReplayBarProps {
  readonly player: ReplayPlayer
  readonly liveWatch: Watch
}

export function ReplayBar({ player, liveWatch }: ReplayBarProps) {
  const state = useSyncExternalStore(player.subscribe, player.get)
  const bar = useRef<HTMLElement>(null)
  useEffect(() => (bar.current === null ? undefined : publishHeight(bar.current)), [])
  useReplayKeys(player)
  const { time, moment } = state
  useEffect(() => {
    document.documentElement.dataset.replay = moment === null ? 'loading' : moment.isRecorded ? '' : 'gap'
  }, [moment])
  return (
    <section className="replay-bar" ref={bar} aria-label={t('replay.title')}>
      <p className="replay-time">
        <History className="icon" aria-hidden="true" />
        <strong>{t('replay.title')}</strong>
        <time dateTime={toIso(time)}>{formatDateTime(time)}</time>
      </p>
      <p className="replay-note" role="status">
        {noteOf(state)}
      </p>
      <div className="replay-controls">
        <Steps player={player} state={state} />
        <Speeds player={player} state={state} />
        <Slider player={player} state={state} />
      </div>
      <BackToLive liveWatch={liveWatch} />
    </section>
  )
}

/** A problem of the moment, otherwise the event that it belongs to. */
function noteOf({ moment, problem, isAtEnd, search, events, time }: ReplayState): ReactNode {
  if (problem !== null) return t('replay.failed', { reason: problem.detail })
  if (moment === null) return t('replay.loading')
  if (!moment.isRecorded) return <strong>{t('replay.gap')}</strong>
  if (search === 'searching') return t('replay.searching')
  if (search === 'none') return t('replay.noEvent')
  if (isAtEnd) return t('replay.end')
  const event = currentEvent(events, time)
  if (event !== undefined) return <EventText event={event} />
  const seconds = moment.stepSeconds ?? 1
  return seconds > 1 ? t('replay.coarse', { step: formatShortDuration(seconds * 1_000) }) : null
}

function EventText({ event: { time, text } }: { event: EventBody }) {
  return (
    <>
      {formatTime(Date.parse(time))} <bdi>{plainText(text)}</bdi>
    </>
  )
}

const eventMs = 10_000

function currentEvent(events: readonly EventBody[], time: number): EventBody | undefined {
  return events.find((event) => {
    const began = Date.parse(event.time)
    return began < time + 1_000 && began > time - eventMs
  })
}

interface ControlsProps {
  readonly player: ReplayPlayer
  readonly state: ReplayState
}

const minuteMs = 60_000
const steps = { before: [-minuteMs, -10_000, -1_000], after: [1_000, 10_000, minuteMs] } as const

function Steps({ player, state: { isPlaying } }: ControlsProps) {
  const step = (ms: number) => (
    <button
      key={ms}
      type="button"
      className={Math.abs(ms) === minuteMs ? 'choice replay-minute' : 'choice'}
      aria-label={t(ms < 0 ? 'replay.back' : 'replay.forward', { time: formatShortDuration(Math.abs(ms)) })}
      onClick={() => player.step(ms)}
    >
      {ms < 0 ? '−' : '+'}
      {formatShortDuration(Math.abs(ms))}
    </button>
  )
  const jump = (direction: 'previous' | 'next') => (
    <button
      type="button"
      className="choice replay-event"
      aria-label={t(`replay.events.${direction}`)}
      title={t(`replay.events.${direction}`)}
      onClick={() => player.goToEvent(direction)}
    >
      {direction === 'previous' ? (
        <SkipBack className="icon" aria-hidden="true" />
      ) : (
        <SkipForward className="icon" aria-hidden="true" />
      )}
    </button>
  )
  const Icon = isPlaying ? Pause : Play
  return (
    <div className="replay-steps">
      {jump('previous')}
      {steps.before.map(step)}
      <button
        type="button"
        className="choice replay-play"
        aria-label={t(isPlaying ? 'replay.pause' : 'replay.play')}
        title={t('replay.keys')}
        onClick={() => player.setPlaying(!isPlaying)}
      >
        <Icon className="icon" aria-hidden="true" />
      </button>
      {steps.after.map(step)}
      {jump('next')}
    </div>
  )
}

function Speeds({ player, state: { speed } }: ControlsProps) {
  return (
    <fieldset className="replay-speeds">
      <legend className="visually-hidden">{t('replay.speed')}</legend>
      <ChoiceButtons
        value={speed}
        values={speeds}
        nameOf={(value) => `${value}×`}
        onChoice={(value) => player.setSpeed(value)}
      />
    </fieldset>
  )
}

const hourSeconds = 3_600

function Slider({ player, state: { time, events } }: ControlsProps) {
  const hour = hourOf(time)
  const second = (time - hour) / 1_000
  return (
    <div className="replay-slider">
      <span aria-hidden="true">{formatTime(hour)}</span>
      <span className="replay-track">
        <span className="replay-marks" aria-hidden="true">
          {events.map(({ id, time, severity }) => {
            const at = (Date.parse(time) - hour) / 1_000 / hourSeconds
            if (at < 0 || at > 1) return null
            return <span key={id} data-severity={severity} style={{ left: `${at * 100}%` }} />
          })}
        </span>
        <input
          type="range"
          min={0}
          max={hourSeconds - 1}
          value={second}
          aria-label={t('replay.slider')}
          aria-valuetext={formatTime(time)}
          onChange={({ currentTarget }) => player.seek(hour + Number(currentTarget.value) * 1_000)}
        />
      </span>
      <span aria-hidden="true">{formatTime(hour + hourSeconds * 1_000)}</span>
    </div>
  )
}

/** Says how many problems there are now. */
function BackToLive({ liveWatch }: { liveWatch: Watch }) {
  const problems = useSyncExternalStore(liveWatch.subscribe, () =>
    liveWatch.get().phase !== 'ready' || allStaleSince(liveWatch.get()) !== null ? null : liveWatch.summary().problems,
  )
  return (
    <Link
      className="choice replay-live"
      to="."
      search={({ at: _, ...view }: { at?: string | null | undefined }) => view}
      data-attention={(problems ?? 0) > 0 || undefined}
    >
      <Radio className="icon" aria-hidden="true" />
      {problems === null || problems === 0 ? t('replay.live') : t('replay.liveProblems', { count: problems })}
    </Link>
  )
}

/** Space plays and pauses; the arrow keys move by a second, with Shift by ten. */
function useReplayKeys(player: ReplayPlayer) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target, shiftKey } = event
      if (isKeyForAnother(event)) return
      const isButton = target instanceof Element && target.closest('button, a, summary') !== null
      if (key === ' ' && !isButton) player.setPlaying(!player.get().isPlaying)
      else if (key === 'ArrowLeft' || key === 'ArrowRight') {
        player.step((key === 'ArrowLeft' ? -1_000 : 1_000) * (shiftKey ? 10 : 1))
      } else return
      event.preventDefault()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [player])
}

/** The player of all pages. It is loaded only for users who may listen, and is shown after the first channel. */

import { SoundLevel } from '../parts/meters/sound-level.tsx'
import './listening-bar.css'
import { Ear, SkipBack, SkipForward, Square, Volume2, X } from 'lucide-react'
import { useContext, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import type { ChannelFacts } from '../app/channel-state.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { isSameSound, ListeningContext, type StreamSound } from '../app/listening.ts'
import { useResource } from '../app/resource.ts'
import { slotTitle } from '../app/slot-records.ts'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { channelAt, directionOf, neighbourOf } from './listening-keys.ts'
import { Player, type PlayerState } from './player.ts'

/** A shorter press of the button stays on; a longer one plays while it is held. */
const holdMs = 400

export function ListeningBar() {
  const isOff = useWatchState(({ listeners }) => listeners === null)
  return isOff ? <ListeningOff /> : <ListeningOn />
}

/** The key explains how to switch listening on. */
function ListeningOff() {
  const showMessage = useShowMessage()
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (channelAt(event) !== null) showMessage({ text: t('listen.off'), tone: 'alarm' })
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [showMessage])
  return null
}

function ListeningOn() {
  const { mount, watch } = useServices()
  const store = useContext(ListeningContext)
  const [player] = useState(() => new Player(mount))
  const state = useSyncExternalStore(player.subscribe, player.get)
  const mappings = useResource('/api/audio/mappings/', 'list', ['audio_mappings']).body
  const mapped = useMemo(() => new Set(mappings?.map(({ channel_id }) => channel_id)), [mappings])
  const cards = useSyncExternalStore(watch.subscribe, watch.cards)
  const { channelId, stream, phase } = state
  const playing = phase === 'idle' ? null : channelId
  const playingStream = phase === 'idle' ? null : stream
  const toggle = useMemo(
    () => (id: number) => {
      const { channelId, phase } = player.get()
      if (phase !== 'idle' && channelId === id) player.stop()
      else player.play(id)
    },
    [player],
  )
  const toggleStream = useMemo(
    () => (chosen: StreamSound) => {
      const { stream, phase } = player.get()
      if (phase !== 'idle' && isSameSound(stream, chosen)) player.stop()
      else player.playStream(chosen)
    },
    [player],
  )
  useEffect(
    () => store.set({ mapped, channelId: playing, stream: playingStream, toggle, toggleStream }),
    [store, mapped, playing, playingStream, toggle, toggleStream],
  )
  useEffect(
    () => () => {
      player.stop()
      store.set(null)
    },
    [player, store],
  )
  const playable = cards.filter(({ channelId, notNowBy }) => mapped.has(channelId) && notNowBy === null)
  useKeys({ player, playable, toggle })
  const card = cards.find((candidate) => candidate.channelId === channelId)
  if (stream !== null) return <Bar {...{ player, state, playable }} name={stream.name} />
  if (card === undefined) return null
  return <Bar {...{ player, state, playable }} name={slotTitle(card)} />
}

interface BarProps {
  readonly player: Player
  readonly state: PlayerState
  readonly name: string
  readonly playable: readonly ChannelFacts[]
}

function Bar({ player, state, name, playable }: BarProps) {
  const step = (direction: -1 | 1) => {
    const next = neighbourOf(playable, state.channelId, direction)
    if (next !== null) player.play(next)
  }
  return (
    <section className="listening-bar" aria-label={t('listen.player')} data-phase={state.phase}>
      <button
        type="button"
        className="choice"
        aria-keyshortcuts="["
        aria-label={t('listen.previous')}
        onClick={() => step(-1)}
      >
        <SkipBack className="icon" aria-hidden="true" />
      </button>
      <PlayButton {...{ player, state, name }} />
      <button
        type="button"
        className="choice"
        aria-keyshortcuts="]"
        aria-label={t('listen.next')}
        onClick={() => step(1)}
      >
        <SkipForward className="icon" aria-hidden="true" />
      </button>
      <bdi className="listening-name">{name}</bdi>
      <span className="listening-state" role="status">
        {stateText(state)}
      </span>
      <span className="listening-level" title={t('listen.level')}>
        <SoundLevel dbfs={state.level} />
      </span>
      <label className="listening-volume">
        <Volume2 className="icon" aria-hidden="true" />
        <span className="visually-hidden">{t('listen.volume')}</span>
        <input
          type="range"
          min={0}
          max={1}
          step={0.05}
          value={state.volume}
          onChange={({ target }) => player.setVolume(Number(target.value))}
        />
      </label>
      <button type="button" className="choice" aria-label={t('listen.close')} onClick={() => player.dismiss()}>
        <X className="icon" aria-hidden="true" />
      </button>
    </section>
  )
}

interface PlayButtonProps {
  readonly player: Player
  readonly state: PlayerState
  readonly name: string
}

function PlayButton({ player, state, name }: PlayButtonProps) {
  const press = useRef<{ readonly at: number; readonly wasOn: boolean } | null>(null)
  const isOn = state.phase !== 'idle'
  const Icon = isOn ? Square : Ear
  const toggle = () => (isOn ? player.stop() : player.resume())
  const cancel = () => {
    if (press.current?.wasOn === false) player.stop()
    press.current = null
  }
  const release = () => {
    const ended = press.current
    press.current = null
    // The keyboard does not press a pointer.
    if (ended === null) toggle()
    else if (ended.wasOn || performance.now() - ended.at > holdMs) player.stop()
  }
  return (
    <button
      type="button"
      className="choice listening-button"
      data-tone={isOn ? undefined : 'usual'}
      aria-pressed={isOn}
      aria-keyshortcuts="L"
      title={t('listen.hold')}
      onPointerDown={({ button }) => {
        if (button !== 0) return
        press.current = { at: performance.now(), wasOn: isOn }
        if (!isOn) player.resume()
      }}
      onPointerLeave={cancel}
      onPointerCancel={cancel}
      onClick={release}
    >
      <Icon className="icon" aria-hidden="true" />
      {t(isOn ? 'card.stopListening' : 'card.listen')}
      <span className="visually-hidden"> {name}</span>
    </button>
  )
}

const reasons = ['muted', 'not_now', 'unmapped', 'removed', 'permission', 'signed_out', 'stopping', 'lost'] as const

function stateText({ phase, problem, latencyMs }: PlayerState): string {
  if (problem !== null) {
    const reason = reasons.find((known) => known === problem)
    return reason === undefined ? problem : t(`listen.reasons.${reason}`)
  }
  if (phase === 'connecting') return t('listen.connecting')
  if (phase === 'idle') return t('listen.stopped')
  return latencyMs === null ? t('listen.playing') : t('listen.latency', { ms: Math.round(latencyMs) })
}

interface KeysOptions {
  readonly player: Player
  readonly playable: readonly ChannelFacts[]
  toggle(channelId: number): void
}

/** L plays the channel of the focused or hovered card, or stops it; [ and ] play the previous and the next channel. */
function useKeys(options: KeysOptions): void {
  const latest = useRef(options)
  latest.current = options
  const showMessage = useShowMessage()
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { player, playable, toggle } = latest.current
      const { channelId, stream, phase } = player.get()
      const direction = directionOf(event)
      if (direction !== null && channelId !== null) {
        const next = neighbourOf(playable, channelId, direction)
        if (next !== null) player.play(next)
        return
      }
      const chosen = channelAt(event)
      if (chosen === null) return
      const id = chosen ?? channelId
      if (id === null) {
        if (stream !== null && phase === 'idle') player.resume()
        else player.stop()
        return
      }
      const isStop = phase !== 'idle' && id === channelId
      if (isStop || playable.some((card) => card.channelId === id)) toggle(id)
      else showMessage({ text: t('listen.notMapped'), tone: 'alarm' })
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [showMessage])
}

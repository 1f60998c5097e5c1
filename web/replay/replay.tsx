/** The state comes from a player. The live connection stays open for the way back. */

import { toIso } from '../app/service-time.ts'
import './replay.css'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { type Services, ServicesContext, useServices } from '../app/context.ts'
import type { ChartSamples } from '../app/history.ts'
import { Watch } from '../app/watch.ts'
import { slotRecordsAt } from '../parts/slots/slot-records-at.ts'
import { createPlayer, type ReplayPlayer, type ReplayState } from './player.ts'
import { ReplayBar } from './replay-bar.tsx'

/** A reload shows the same moment. */
const addressMs = { paused: 500, playing: 10_000 } as const

export function Replay({ at, children }: { at: string; children: ReactNode }) {
  const live = useServices()
  const [past, setPast] = useState<{ services: Services; player: ReplayPlayer } | null>(null)
  const first = useRef(at)
  useEffect(() => {
    const opened = openReplay(live, Date.parse(first.current))
    setPast(opened)
    document.documentElement.dataset.replay = ''
    const release = live.alarm.hold()
    return () => {
      opened.close()
      delete document.documentElement.dataset.replay
      release()
    }
  }, [live])
  if (past === null) return null
  return (
    <ServicesContext value={past.services}>
      <Address at={at} player={past.player} />
      <ReplayBar player={past.player} liveWatch={live.watch} />
      {children}
    </ServicesContext>
  )
}

/** Keeps the address and the time of the player the same. */
function Address({ at, player }: { at: string; player: ReplayPlayer }) {
  const navigate = useNavigate()
  const written = useRef(at)
  useEffect(() => {
    if (written.current === at) return
    written.current = at
    player.seek(Date.parse(at))
  }, [at, player])
  useEffect(() => {
    let writtenAt = performance.now()
    const timer = setInterval(() => {
      const { time, isPlaying } = player.get()
      const next = toIso(time)
      const now = performance.now()
      const isSame = Date.parse(written.current) === time
      if (isSame || (isPlaying && now - writtenAt < addressMs.playing)) return
      writtenAt = now
      written.current = next
      void navigate({ to: '.', search: (before) => ({ ...before, at: next }), replace: true, resetScroll: false })
    }, addressMs.paused)
    return () => clearInterval(timer)
  }, [player, navigate])
  return null
}

/** Shares the painter, because there is only one canvas. */
function openReplay(live: Services, time: number) {
  const watch = new Watch(time)
  watch.dispatch({ type: 'connection', connection: 'replay', at: time })
  const player = createPlayer({ api: live.api, time })
  const history: ChartSamples = { head: 0, of: (channelId) => charts.of(channelId) }
  let charts = player.charts()
  let shown: ReplayState | null = null
  const follow = () => {
    const state = player.get()
    if (state.moment !== shown?.moment || state.problem !== shown?.problem) {
      charts = player.charts()
      show(watch, live.watch, state)
    }
    shown = state
  }
  const unsubscribe = [
    player.subscribe(follow),
    watch.subscribe(live.painter.wake),
    watch.subscribeLevels(live.painter.wake),
  ]
  const services: Services = {
    ...live,
    ...{ watch, history, replay: player },
    chartFill: { show: () => () => {} },
    live: { start: () => {}, followSweeps: () => () => {}, retry: player.retry },
  }
  const close = () => {
    player.close()
    for (const end of unsubscribe) end()
  }
  return { services, player, close }
}

function show(watch: Watch, liveWatch: Watch, { moment, time, problem }: ReplayState) {
  if (moment === null) {
    if (problem !== null) watch.dispatch({ type: 'failed', problem, at: time })
    return
  }
  const today = liveWatch.get()
  const at = moment.currentAt
  if (today.health !== null) watch.dispatch({ type: 'health', health: today.health, at: time })
  watch.dispatch({ type: 'polled', data: { ...moment.data, slot_records: slotRecordsAt(moment.data, today) }, at })
  if (moment.levels !== null) {
    const values = moment.levels.map((entry) => [...entry])
    watch.dispatch({ type: 'message', message: { type: 'levels', seq: 0, at: toIso(at), values }, at })
  }
  // In a gap, all values are marked as not current.
  if (!moment.isRecorded) watch.dispatch({ type: 'connection', connection: 'replay', at: time })
  watch.dispatch({ type: 'tick', at: time })
}

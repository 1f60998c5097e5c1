import { useEffect, useRef, useState } from 'react'
import { hasRow } from '../../src/domain/conditions/condition.ts'
import type { StateLetter } from '../../src/domain/history/columns.ts'
import type { Problem } from '../app/api.ts'
import { allStaleSince, type ChannelFacts } from '../app/channel-state.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { useResource } from '../app/resource.ts'
import { serviceNow, toIso } from '../app/service-time.ts'
import type { Levels, Watch } from '../app/watch.ts'
import type { ChannelRange } from '../parts/channels/channel-range.ts'
import {
  type ChannelLevels,
  type LiveSecond,
  maxPoints,
  pick,
  recordedLevels,
  unknownLevels,
  withLive,
} from './channel-levels.ts'

export interface ShownLevels {
  readonly levels: ChannelLevels
  readonly from: number
  readonly to: number
  readonly problem: Problem | null
  /** Sites whose levels could not be requested. */
  readonly interruptedSites: readonly string[]
}

export function useChannelLevels(receiverId: number, channelId: number, range: ChannelRange): ShownLevels {
  const now = useServerSeconds()
  const live = useLiveSeconds(receiverId, channelId)
  const to = range.to ?? now
  const loadedTo = useRefreshTime(now, range)
  const query = new URLSearchParams({
    channels: String(channelId),
    from: toIso((loadedTo - range.span) * 1_000),
    to: toIso(loadedTo * 1_000),
    max_points: String(maxPoints),
    series: 'rf,audio,battery',
  })
  const isOfSite = useWatchState(({ receivers }) => receivers.get(receiverId)?.site != null)
  const topics = isOfSite ? siteTopics : noTopics
  const { body, problem, isChanging } = useResource(`/api/history/levels/?${query}`, 'object', topics)
  const recorded = body === null ? unknownLevels(to - range.span, to) : recordedLevels(body, channelId)
  const isLoaded = !isChanging && (body !== null || problem !== null)
  const interruptedSites = (body?.interrupted_sites ?? []).map(({ name }) => name)
  return { levels: withLive(recorded, live, { to, isLoaded }), from: to - range.span, to, problem, interruptedSites }
}

/** A line may have been restored. */
const siteTopics = ['source'] as const
const noTopics = [] as const

export function useServerSeconds(): number {
  return useWatchState(({ now }) => Math.floor(now / 1_000))
}

function useRefreshTime(now: number, { span, to }: ChannelRange): number {
  const isFresh = useWatchState((watchState) => watchState.isFresh)
  const following = useRef({ span: 0, isFresh, startedAt: now, readAt: now })
  if (to !== null) {
    following.current = { ...following.current, span: 0 }
    return to
  }
  const { current } = following
  const isStarting = current.span !== span || (isFresh && !current.isFresh)
  const startedAt = isStarting ? now : current.startedAt
  const readAt = isStarting || isFresh ? refreshedAt(now, startedAt, span) : current.readAt
  following.current = { span, isFresh, startedAt, readAt }
  return readAt
}

/** A second is recorded this long after its end. */
const recordedAfter = 4

/**
 * Read when the page begins to follow now, once the seconds until then are recorded, and then regularly, so that
 * recorded values replace live ones.
 */
export function refreshedAt(now: number, startedAt: number, span: number): number {
  const interval = Math.max(30, Math.min(600, span / 20))
  const elapsed = now - startedAt - recordedAfter
  return elapsed < 0 ? startedAt : startedAt + recordedAfter + Math.floor(elapsed / interval) * interval
}

/** Three hours, for services that record nothing. */
const maxSeconds = 3 * 3_600

function useLiveSeconds(receiverId: number, channelId: number): readonly LiveSecond[] {
  const { watch } = useServices()
  const [seconds, setSeconds] = useState<readonly LiveSecond[]>([])
  const current = useRef<LiveSecond | null>(null)
  useEffect(() => {
    const read = () => {
      const second = secondOf(watch, receiverId, channelId)
      if (second === null) return
      const before = current.current
      if (before !== null && before.at !== second.at) {
        setSeconds((known) => [...known.filter(({ at }) => at < before.at), before].slice(-maxSeconds))
      }
      current.current = before?.at === second.at ? merge(before, second) : second
    }
    const timer = setInterval(() => {
      read()
      // The last values were repeated until their end was known.
      const endedAt = lastReceivedAt(watch, receiverId, channelId)
      if (endedAt === null) return
      const isKept = ({ at }: LiveSecond) => at <= endedAt / 1_000
      setSeconds((known) => (known.every(isKept) ? known : known.filter(isKept)))
    }, 1_000)
    const unsubscribe = watch.subscribeLevels((ids) => {
      if (ids.includes(channelId)) read()
    })
    return () => {
      clearInterval(timer)
      unsubscribe()
    }
  }, [watch, receiverId, channelId])
  return seconds
}

function secondOf(watch: Watch, receiverId: number, channelId: number): LiveSecond | null {
  const facts = watch.facts(receiverId, channelId)
  if (facts === null || facts.state === 'stale' || hasRow(facts.condition, 'stale')) return null
  const { rf, rfPercent, audio, audioPeak } = watch.levels(receiverId, channelId)
  const at = Math.floor(serviceNow() / 1_000)
  const letter = letterOf(facts)
  const isOn = letter === '1' || letter === 'm'
  const level = letter === 'x' ? null : (rf ?? rfPercent)
  return {
    ...{ at, letter, rfMin: level, rfMax: level },
    audio: isOn ? (audioPeak ?? audio) : null,
    battery: isOn ? facts.battery : null,
  }
}

function letterOf({ condition }: ChannelFacts): StateLetter {
  if (hasRow(condition, 'receiver_offline')) return 'x'
  if (hasRow(condition, 'tx_off') || hasRow(condition, 'battery_died')) return '0'
  return hasRow(condition, 'muted') ? 'm' : '1'
}

function merge(a: LiveSecond, b: LiveSecond): LiveSecond {
  return {
    ...b,
    rfMin: pick(Math.min, a.rfMin, b.rfMin),
    rfMax: pick(Math.max, a.rfMax, b.rfMax),
    audio: pick(Math.max, a.audio, b.audio),
  }
}

/** Browser time; null while the values are current. */
function lastReceivedAt(watch: Watch, receiverId: number, channelId: number): number | null {
  const allStale = allStaleSince(watch.get())
  if (allStale !== null) return allStale
  return watch.facts(receiverId, channelId)?.state === 'stale' ? watch.levelsReceivedAt(channelId) : null
}

/** A percentage of the equipment's own scale is not recorded. */
export function isRfInPercent({ rf, rfPercent }: Levels): boolean {
  return rf === null && rfPercent !== null
}

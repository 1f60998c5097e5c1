/**
 * Judges what the detectors find in the sound of held channels. Dropouts and clipping become events, observations are
 * only remembered for clips. Nothing within 1 s of a mute is judged.
 */

import type { ChannelSample, ConditionMonitor } from '../conditions/conditions.ts'
import type { AudioFault, AudioFinding } from '../domain/audio/faults/finding.ts'
import { judgeDropout, muteMs, overlaps, type TimeRange } from '../domain/audio/faults/judge-dropout.ts'
import { bestInUse } from '../domain/conditions/level-watch.ts'
import { type Channel, isChannelMuted, type Receiver } from '../domain/equipment/receiver.ts'
import { type AudioRangeKind, audioRangeKinds } from '../domain/events/channel-events.ts'
import type { EventLog } from '../history/event-log.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import { now } from '../platform/clock.ts'

interface Subsystems {
  readonly receiverStore: ReceiverStore
  readonly conditions: ConditionMonitor
  readonly events: EventLog
}

const judgeEveryMs = 250
/** A clip is complete by then. */
const rememberMs = 120_000
/** RF levels and mutes before that are of no use. */
const evidenceMs = 10_000

interface Watched {
  /** By kind and beginning. Observations are confirmed at once. */
  readonly findings: Map<string, AudioFinding & { readonly isConfirmed: boolean }>
  /** Null without RF readings. */
  weakRf: TimeRange[] | null
}

export class FaultMonitor {
  readonly #subsystems: Subsystems
  readonly #watched = new Map<number, Watched>()
  /** The mutes of all channels, and the times in which their transmitter was off. */
  readonly #mutes = new Map<number, TimeRange[]>()
  #timer: NodeJS.Timeout | undefined

  constructor(subsystems: Subsystems) {
    this.#subsystems = subsystems
  }

  start(): void {
    const { receiverStore, conditions } = this.#subsystems
    for (const receiver of receiverStore.listFacts()) this.#noteMutes(receiver)
    receiverStore.changed.subscribe(({ before, after }) => {
      if (after !== undefined && after.origin === undefined && before?.channels !== after.channels)
        this.#noteMutes(after)
    })
    conditions.sampled.subscribe((sample) => this.#noteRf(sample))
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** The sound of a channel is received from now on. */
  watch(channelId: number): void {
    this.#watched.set(channelId, { findings: new Map(), weakRf: null })
    this.#timer ??= setInterval(() => this.#judgeAll(), judgeEveryMs).unref()
  }

  unwatch(channelId: number): void {
    if (!this.#watched.delete(channelId)) return
    this.#subsystems.events.audioEnded(channelId)
    if (this.#watched.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  add(channelId: number, findings: readonly AudioFinding[]): void {
    const watched = this.#watched.get(channelId)
    if (watched === undefined) return
    for (const finding of findings) {
      const key = `${finding.kind} ${finding.from}`
      const isConfirmed = watched.findings.get(key)?.isConfirmed ?? !isRangeKind(finding.kind)
      watched.findings.set(key, { ...finding, isConfirmed })
      if (isConfirmed) this.#publish(channelId, finding)
    }
  }

  /** Lists what was found in a time, in Unix milliseconds. */
  faultsIn(channelId: number, from: number, to: number): readonly AudioFault[] {
    const range = { from, until: to }
    const found = [...(this.#watched.get(channelId)?.findings.values() ?? [])]
    return [...new Set(found.filter((each) => each.isConfirmed && overlaps(each, range, 0)).map(({ kind }) => kind))]
  }

  #judgeAll(): void {
    const at = now()
    for (const [channelId, watched] of this.#watched) {
      for (const [key, finding] of watched.findings) {
        if (!finding.isConfirmed && this.#judge(channelId, watched, key, finding)) watched.findings.delete(key)
        if (finding.until !== null && finding.until < at - rememberMs) watched.findings.delete(key)
      }
    }
  }

  /** Returns true if the finding is none. */
  #judge(channelId: number, watched: Watched, key: string, finding: AudioFinding): boolean {
    const mutes = this.#mutes.get(channelId) ?? []
    const at = now()
    if (finding.kind !== 'audio_dropout') {
      if (at < finding.from + muteMs) return false
      if (mutes.some((mute) => overlaps(mute, { from: finding.from, until: finding.until ?? at }, muteMs))) return true
      this.#confirm(channelId, watched, key, finding)
      return false
    }
    const verdict = judgeDropout(finding, { now: at, weakRf: watched.weakRf, mutes })
    if (verdict.is === 'dropout') this.#confirm(channelId, watched, key, finding, { confirmed_by: verdict.confirmedBy })
    return verdict.is === 'muted' || verdict.is === 'silence'
  }

  #confirm(channelId: number, { findings }: Watched, key: string, finding: AudioFinding, data = {}): void {
    findings.set(key, { ...finding, isConfirmed: true })
    this.#publish(channelId, finding, data)
  }

  #publish(channelId: number, { kind, from, until }: AudioFinding, data = {}): void {
    if (!isRangeKind(kind)) return
    const range = { from: Math.round(from), until: until === null ? null : Math.round(until), data }
    this.#subsystems.events.audioFaultChanged(channelId, kind, range)
  }

  #noteRf({ channelId, values, thresholds }: ChannelSample): void {
    const watched = this.#watched.get(channelId)
    if (watched === undefined) return
    const isWeak = values.hasTransmitter && bestInUse(values) < thresholds.RF_WEAK_DBM
    watched.weakRf = withState(watched.weakRf ?? [], isWeak)
  }

  #noteMutes({ channels }: Receiver): void {
    for (const channel of channels) {
      const ranges = this.#mutes.get(channel.id) ?? []
      const after = withState(ranges, isSilenced(channel))
      if (after.length > 0) this.#mutes.set(channel.id, after)
      else this.#mutes.delete(channel.id)
    }
  }
}

/** A transmitter that is off is as silent as one that is muted. */
function isSilenced(channel: Channel): boolean {
  return channel.transmitter === null || isChannelMuted(channel)
}

/** Begins, continues or ends the last range now, and forgets old ones. */
function withState(ranges: TimeRange[], isTrue: boolean): TimeRange[] {
  const at = now()
  const last = ranges.at(-1)
  const isOpen = last !== undefined && last.until === null
  if (isOpen === isTrue) return ranges
  const recent = ranges.filter(({ until }) => until === null || until > at - evidenceMs)
  return isTrue ? [...recent, { from: at, until: null }] : recent.map((each) => ({ ...each, until: each.until ?? at }))
}

/** Others are observations, and no events. */
function isRangeKind(kind: AudioFault): kind is AudioRangeKind {
  return audioRangeKinds.some((each) => each === kind)
}

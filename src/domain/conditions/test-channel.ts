/** A channel under test. Only the test moves its clock. */

import type { ChannelDetails, TransmitterDetails } from '../equipment/receiver.ts'
import { type Channel, emptyChannel, type Transmitter } from '../equipment/receiver.ts'
import type { Condition } from './condition.ts'
import { resolveThresholds, type ScopeThresholds, type Thresholds } from './condition.ts'
import { type Evaluation, evaluateCondition, isStored, type LevelsStatus } from './evaluate.ts'
import { createWatch, createWatchedValues, readWatchedValues, resetWatch, updateWatch } from './level-watch.ts'
import { type ConditionMemory, restoreMemory } from './memory.ts'

export const startOfTest = Date.UTC(2026, 10, 22, 19)

const full: Transmitter = {
  upstream_slot: null,
  name: 'Y13 Nora',
  battery: 90,
  audio_level: -20,
  rf_level: -50,
  frequency: null,
}

export class TestChannel {
  /** Monotonic milliseconds; the wall clock moves with it. */
  now = 5000
  wallOffset = startOfTest - 5000
  isActive = true
  lastSeen = startOfTest
  channel: Channel = { ...emptyChannel(1, 1, 1), transmitter: full }
  intervalMs = 10_000
  watchedSince = 5000
  receivedAt: number | null = 5000
  hasReported = true
  audioFloor: number | null = null
  thresholds: Thresholds = resolveThresholds({}, {}, [])
  shows: readonly number[] = []
  memory: ConditionMemory | null = null
  isObserved = false
  levels: LevelsStatus = 'current'
  readonly watch = createWatch()

  evaluate(): Evaluation {
    const { isActive, lastSeen, channel, levels, watch, memory, thresholds, shows } = this
    const { receivedAt, hasReported, watchedSince, intervalMs, isObserved } = this
    const input = {
      receiver: { is_active: isActive, last_seen: lastSeen },
      channel,
      reception: { receivedAt, hasReported, watchedSince, intervalMs },
      levels,
      watch,
      memory,
      isObserved,
      thresholds,
      shows,
      now: { monotonic: this.now, wall: this.wall },
    }
    const evaluation = evaluateCondition(input)
    this.isObserved ||= !isStored(input)
    this.memory = evaluation.memory
    return evaluation
  }

  get wall(): number {
    return this.now + this.wallOffset
  }

  get condition(): Condition {
    return this.evaluate().condition
  }

  get state(): string {
    return this.condition.state
  }

  get rows(): readonly string[] {
    const { state, flags } = this.condition
    return [state, ...flags]
  }

  wait(ms: number): this {
    this.now += ms
    return this
  }

  /** Receives data that does not concern the channel. */
  receiveKeepAlive(): this {
    this.receivedAt = this.now
    return this
  }

  /** Receives a report or a sample. `transmitter: null` removes the transmitter. */
  report(
    changes: {
      transmitter?: (Partial<Transmitter> & { details?: TransmitterDetails }) | null
      details?: ChannelDetails
      rf_level?: number | null
      audio_level?: number | null
    } = {},
  ): this {
    this.receivedAt = this.now
    this.hasReported = true
    this.lastSeen = this.wall
    const { transmitter, ...others } = changes
    const merged =
      transmitter === undefined
        ? this.channel.transmitter
        : transmitter && { ...(this.channel.transmitter ?? full), ...transmitter }
    const details = { ...this.channel.details, ...changes.details }
    this.channel = { ...this.channel, ...others, details, transmitter: merged }
    const values = createWatchedValues()
    values.audioFloor = this.audioFloor
    readWatchedValues(this.channel, values)
    updateWatch(this.watch, values, this.thresholds, this.now)
    return this
  }

  /** Changes thresholds, and updates the watch as the caller does after a change of settings. */
  set(thresholds: ScopeThresholds): this {
    this.thresholds = resolveThresholds(thresholds, {}, [])
    return this.receivedAt === null ? this : this.report()
  }

  /** Ends the process and starts another one after `awayMs`. The monotonic clock restarts. */
  restart(awayMs: number): this {
    const stored = this.memory && (JSON.parse(JSON.stringify(this.memory)) as ConditionMemory)
    const wall = this.wall + awayMs
    this.now = 77
    this.wallOffset = wall - 77
    this.watchedSince = 77
    this.receivedAt = null
    this.hasReported = false
    this.isObserved = false
    this.memory = stored && restoreMemory(stored, this.lastSeen)
    resetWatch(this.watch, stored?.condition ?? null)
    return this
  }
}

export const minute = 60_000
export const hour = 60 * minute

export const off = { transmitter: null }

export const battery = (percent: number | null, minutes?: number | null) => ({
  transmitter: { battery: percent, ...(minutes !== undefined && { details: { battery_minutes: minutes } }) },
})

export function offline(channel: TestChannel): TestChannel {
  channel.isActive = false
  return channel
}

export function afterEvaluation(channel: TestChannel): TestChannel {
  channel.evaluate()
  return channel
}

export function quiet(channel: TestChannel, minutes = 1): TestChannel {
  return channel.set({ NO_AUDIO_MINUTES: minutes }).report({ transmitter: { audio_level: -61 } })
}

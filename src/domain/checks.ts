/**
 * The line check: the results that users enter for the channels of a show, and the problems that the service detects on
 * them.
 */

import type { ChannelCheckBody, CheckBody, CheckedState, Sees } from '../contract/checks.ts'
import type { CheckResult } from '../contract/values.ts'
import { hasRow } from './conditions/condition.ts'
import { isSilence } from './conditions/level-watch.ts'
import { type Channel, frequencyOf, isChannelMuted } from './equipment/receiver.ts'
import { RequestError } from './errors.ts'
import type { Forecast } from './forecast/forecast.ts'
import { type Show, stateOf } from './shows.ts'
import { toTimestamp } from './timestamp.ts'

/** Times are epoch milliseconds. */
export interface Check {
  readonly id: number
  readonly show_id: number
  readonly channel_id: number
  /** Null if only the result was entered. */
  readonly began_at: number | null
  /** Null until the check has a result. */
  readonly checked_at: number | null
  readonly result: CheckResult | null
  readonly note: string | null
  readonly by: string
  /** The state of the channel when the result was entered; null until then, and for checks from before the upgrade. */
  readonly checked: CheckedState | null
}

export function toCheckBody({ began_at, checked_at, checked: _, ...check }: Check): CheckBody {
  return { ...check, began_at: toTimestampOrNull(began_at), time: toTimestampOrNull(checked_at) }
}

function toTimestampOrNull(time: number | null): string | null {
  return time === null ? null : toTimestamp(time)
}

/** Throws a RequestError if the channels of the show can no longer be checked. */
export function requireNotEnded(show: Show): void {
  if (stateOf(show) !== 'ended') return
  throw new RequestError('wrong_state', { subject: 'The show has ended. Its channels can no longer be checked.' })
}

/** The state of a channel, from all its checks. */
export interface CheckState {
  /** When the last check began. */
  readonly began_at: number | null
  /** The last check that has a result. */
  readonly last: Check | null
}

export const notChecked: CheckState = { began_at: null, last: null }

/** `checks` must be in order of creation. */
export function toCheckStates(checks: readonly Check[]): ReadonlyMap<number, CheckState> {
  const states = new Map<number, CheckState>()
  for (const check of checks) {
    const { began_at, last } = states.get(check.channel_id) ?? notChecked
    states.set(check.channel_id, {
      began_at: check.began_at ?? began_at,
      last: check.result === null ? last : check,
    })
  }
  return states
}

/** The extremes since a check began. */
export interface WalkTest {
  /** The lowest RF level in dBm while a transmitter was on; null if none was recorded. */
  readonly lowest: number | null
  /** The highest audio peak in dBFS while it was on and not muted. */
  readonly loudest: number | null
  readonly dropouts: number
}

export interface SeenChannel {
  readonly channel: Channel
  /** The lowest audio level in dBFS that the receiver can report, if it is above -60; otherwise null. */
  readonly audioFloor: number | null
  /** The remaining battery time. Not rounded, so that it agrees with `will_not_last`. */
  readonly forecast: Forecast | null
  /** Null if no check of the channel has begun. */
  readonly walkTest: WalkTest | null
  readonly plannedFrequency: string | null
  /** The frequency plan in force, if it has the slot. */
  readonly plan: Sees['frequency_plan']
  /** The planned end of the show, in epoch milliseconds. */
  readonly endsAt: number | null
  readonly now: number
}

export function toChannelCheck({ began_at, last }: CheckState, seen: SeenChannel): ChannelCheckBody {
  return {
    channel_id: seen.channel.id,
    began_at: toTimestampOrNull(began_at),
    sees: toSees(seen),
    last:
      last === null || last.result === null || last.checked_at === null
        ? null
        : { result: last.result, note: last.note, time: toTimestamp(last.checked_at), by: last.by },
  }
}

function toSees({ channel, audioFloor, walkTest, plannedFrequency, plan, endsAt, now, ...seen }: SeenChannel): Sees {
  const isCurrent = !hasRow(channel.condition, 'receiver_offline') && !hasRow(channel.condition, 'stale')
  const transmitter = isCurrent ? channel.transmitter : null
  const forecast = transmitter && seen.forecast
  return {
    transmitter_on: isCurrent ? transmitter !== null : null,
    battery: transmitter?.battery ?? null,
    minutes_left: forecast?.minutes_left ?? null,
    lasts: forecast === null || endsAt === null ? null : now + forecast.low * 60_000 >= endsAt,
    rf_lowest: walkTest?.lowest ?? null,
    dropouts: walkTest?.dropouts ?? null,
    audio_heard: hadAudio(walkTest, audioFloor) ? true : transmitter && hasAudio(channel, audioFloor),
    encryption: transmitter === null ? null : (channel.details?.encryption ?? null),
    frequency: frequencyOf(channel),
    frequency_planned: plannedFrequency,
    frequency_plan: plan,
  }
}

function hadAudio(walkTest: WalkTest | null, audioFloor: number | null): boolean {
  return walkTest !== null && walkTest.loudest !== null && !isSilence(walkTest.loudest, audioFloor)
}

/** Null if the equipment does not report audio. */
function hasAudio({ transmitter, details, ...channel }: Channel, audioFloor: number | null): boolean | null {
  if (isChannelMuted({ transmitter, details })) return false
  const peak = details?.audio_peak ?? transmitter?.audio_level ?? channel.audio_level
  if (peak !== null) return !isSilence(peak, audioFloor)
  return details?.audio_activity == null ? null : details.audio_activity !== 'low'
}

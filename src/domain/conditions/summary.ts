/** The numbers of `GET /api/summary/`. */

import { conditionStates, criticalConflictKinds } from '../../contract/values.ts'
import type { CheckResult } from '../frequencies/conflict.ts'
import type { LiveCarrier } from '../frequencies/live-carriers.ts'
import type { Condition, ConditionState } from './condition.ts'

interface SummaryChannel {
  readonly condition: Pick<Condition, 'state' | 'attention'>
  readonly hasTransmitter: boolean
  /** See `mustBeReplacedSoon`. */
  readonly isReplaceSoon: boolean
  /** True if every cause for attention is handled, see `HandledChannels`. */
  readonly isHandled: boolean
}

export interface SummaryReceiver {
  readonly isActive: boolean
  /** The failing source that explains its problems; null if none does. */
  readonly failingSource: string | null
  readonly channels: readonly SummaryChannel[]
}

interface SummaryInput {
  readonly receivers: readonly SummaryReceiver[]
  readonly placeholders: number
  /** A source fails from its first failed cycle. */
  readonly sources: readonly ('healthy' | 'failing' | 'unknown')[]
}

export interface Summary {
  readonly channels: number
  readonly transmitters_on: number
  /** Channels that need attention. */
  readonly attention: number
  /** Counts all channels of an offline receiver or failing source as one. */
  readonly problems: number
  /** Channels that need attention and whose causes are all acknowledged, snoozed or silenced. */
  readonly handled: number
  readonly replace_soon: number
  readonly states: Readonly<Record<ConditionState, number>>
  readonly receivers: { readonly online: number; readonly offline: number }
  readonly sources: { readonly healthy: number; readonly failing: number }
}

export function summarizeConditions({ receivers, placeholders, sources }: SummaryInput): Summary {
  const states = Object.fromEntries(conditionStates.map((state) => [state, 0])) as Record<ConditionState, number>
  states.unmonitored = placeholders
  let [count, transmittersOn, attention, handled, replaceSoon, online] = [0, 0, 0, 0, 0, 0]
  // One loop, because there may be 40,000 channels.
  for (const { isActive, channels } of receivers) {
    if (isActive) online += 1
    count += channels.length
    for (const { condition, hasTransmitter, isReplaceSoon, isHandled } of channels) {
      states[condition.state] += 1
      if (isActive && hasTransmitter) transmittersOn += 1
      if (condition.attention) attention += 1
      if (isHandled) handled += 1
      if (isReplaceSoon) replaceSoon += 1
    }
  }
  return {
    channels: count,
    transmitters_on: transmittersOn,
    attention,
    problems: countProblems(receivers),
    handled,
    replace_soon: replaceSoon,
    states,
    receivers: { online, offline: receivers.length - online },
    sources: {
      healthy: sources.filter((status) => status === 'healthy').length,
      failing: sources.filter((status) => status === 'failing').length,
    },
  }
}

/** A failing source causes its receivers to be offline, so only the source is counted. */
function countProblems(receivers: readonly SummaryReceiver[]): number {
  const failingSources = new Set<string>()
  let others = 0
  for (const { isActive, failingSource, channels } of receivers) {
    const count = channels.filter(({ condition }) => condition.attention).length
    if (count === 0) continue
    if (failingSource !== null) failingSources.add(failingSource)
    else others += isActive ? count : 1
  }
  return failingSources.size + others
}

export interface ConflictCounts {
  readonly critical: number
  readonly other: number
}

/**
 * Counts the conflicts of included victims. A critical conflict interferes now: its carriers are on, or a foreign
 * signal is received in place of a transmitter.
 */
export function countConflicts(
  carriers: readonly LiveCarrier[],
  { conflicts, victims }: Pick<CheckResult, 'conflicts' | 'victims'>,
  isIncluded: (carrier: LiveCarrier) => boolean,
): ConflictCounts {
  const included = new Set(carriers.filter(isIncluded).map(({ id }) => id))
  const on = new Set(carriers.filter(({ isOn }) => isOn).map(({ id }) => id))
  const critical = conflicts.filter(({ victim, kind, generators }) => {
    if (!included.has(victim) || !criticalConflictKinds.some((one) => one === kind)) return false
    return kind === 'foreign' || [victim, ...generators].every((id) => on.has(id))
  }).length
  let all = 0
  for (const [victim, count] of Object.entries(victims)) if (included.has(victim)) all += count
  return { critical, other: all - critical }
}

export interface ManufacturerSources {
  readonly count: number
  readonly failing: ReadonlySet<string>
}

/**
 * Returns the address of the failing source that explains the problems of a receiver, or null.
 * - An offline receiver: any failing source that reports it.
 * - An online receiver: only if no working source reports it.
 * - Unknown sources (`reporting` is empty): only if all sources of the manufacturer fail.
 */
export function findFailingSource(
  isActive: boolean,
  reporting: readonly string[],
  { count, failing }: ManufacturerSources,
): string | null {
  if (reporting.length === 0) return failing.size === count ? ([...failing][0] ?? null) : null
  const own = reporting.filter((address) => failing.has(address))
  return isActive && own.length < reporting.length ? null : (own[0] ?? null)
}

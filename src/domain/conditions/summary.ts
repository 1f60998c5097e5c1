/** The numbers of `GET /api/summary/`. */

import { conditionStates } from '../../contract/values.ts'
import type { Condition, ConditionState } from './condition.ts'

interface SummaryChannel {
  readonly condition: Pick<Condition, 'state' | 'attention'>
  readonly hasTransmitter: boolean
  /** Whether the battery of the transmitter must be replaced soon: see `mustBeReplacedSoon`. */
  readonly isReplaceSoon: boolean
}

export interface SummaryReceiver {
  readonly isActive: boolean
  /** The failing source to which its problems are attributed; null if there is none. */
  readonly failingSource: string | null
  readonly channels: readonly SummaryChannel[]
}

interface SummaryInput {
  readonly receivers: readonly SummaryReceiver[]
  readonly placeholders: number
  /** The status of each source. A source fails from its first failed cycle. */
  readonly sources: readonly ('healthy' | 'failing' | 'unknown')[]
}

export interface Summary {
  readonly channels: number
  readonly transmitters_on: number
  /** The number of channels that need attention. */
  readonly attention: number
  /** The same, but all channels of one offline receiver or of one failing source count once. */
  readonly problems: number
  readonly replace_soon: number
  readonly states: Readonly<Record<ConditionState, number>>
  readonly receivers: { readonly online: number; readonly offline: number }
  readonly sources: { readonly healthy: number; readonly failing: number }
}

export function summarizeConditions({ receivers, placeholders, sources }: SummaryInput): Summary {
  const states = Object.fromEntries(conditionStates.map((state) => [state, 0])) as Record<ConditionState, number>
  states.unmonitored = placeholders
  let [count, transmittersOn, attention, replaceSoon, online] = [0, 0, 0, 0, 0]
  // One loop, because there may be 40,000 channels.
  for (const { isActive, channels } of receivers) {
    if (isActive) online += 1
    count += channels.length
    for (const { condition, hasTransmitter, isReplaceSoon } of channels) {
      states[condition.state] += 1
      if (isActive && hasTransmitter) transmittersOn += 1
      if (condition.attention) attention += 1
      if (isReplaceSoon) replaceSoon += 1
    }
  }
  return {
    channels: count,
    transmitters_on: transmittersOn,
    attention,
    problems: countProblems(receivers),
    replace_soon: replaceSoon,
    states,
    receivers: { online, offline: receivers.length - online },
    sources: {
      healthy: sources.filter((status) => status === 'healthy').length,
      failing: sources.filter((status) => status === 'failing').length,
    },
  }
}

/** `limit` is `BATTERY_REPLACE_SOON` in force for the channel. */
export function mustBeReplacedSoon(battery: number | null, limit: number): boolean {
  return battery !== null && battery <= limit
}

/** A failing source is the cause of its offline receivers, so it is counted in their place. */
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

export interface ManufacturerSources {
  readonly count: number
  /** The addresses of the failing ones. */
  readonly failing: ReadonlySet<string>
}

/**
 * Returns the address of the failing source to which the problems of a receiver are attributed; null if there is none.
 * For an offline receiver this is any failing source that reports it. An online receiver has its own problems as long
 * as another source still reports it. If it is not known which sources report a receiver (`reporting` is empty), all
 * sources of its manufacturer must fail.
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

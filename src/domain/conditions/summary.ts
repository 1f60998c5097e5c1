/** The numbers of `GET /api/summary/`. */

import { conditionStates } from '../../contract/values.ts'
import type { Condition, ConditionState } from './condition.ts'

interface SummaryChannel {
  readonly condition: Pick<Condition, 'state' | 'attention'>
  readonly hasTransmitter: boolean
  /** Whether the battery of the transmitter must be replaced soon: see `mustBeReplacedSoon`. */
  readonly isReplaceSoon: boolean
}

interface SummaryReceiver {
  readonly isActive: boolean
  /** One of its sources if all of them fail, else null. */
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
  const channels = receivers.flatMap((receiver) => receiver.channels)
  const online = receivers.filter(({ isActive }) => isActive)
  const states = Object.fromEntries(conditionStates.map((state) => [state, 0])) as Record<ConditionState, number>
  for (const { condition } of channels) states[condition.state] += 1
  states.unmonitored += placeholders
  return {
    channels: channels.length,
    transmitters_on: online.flatMap((receiver) => receiver.channels).filter(({ hasTransmitter }) => hasTransmitter)
      .length,
    attention: channels.filter(({ condition }) => condition.attention).length,
    problems: countProblems(receivers),
    replace_soon: channels.filter(({ isReplaceSoon }) => isReplaceSoon).length,
    states,
    receivers: { online: online.length, offline: receivers.length - online.length },
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

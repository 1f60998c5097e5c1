/** The recorded state of a channel, without its levels. */

import type { ChannelAssignment } from '../../contract/performers.ts'
import type { Condition } from '../conditions/condition.ts'
import type { Channel, Transmitter, TransmitterDetails } from '../equipment/receiver.ts'

export interface ChannelState extends Pick<Channel, 'name' | 'frequency' | 'last_transmitter'> {
  readonly transmitter: Omit<Transmitter, 'audio_level' | 'rf_level'> | null
  /** Earlier versions did not record `since_known`. */
  readonly condition: Omit<Condition, 'flags' | 'since_known'> & Partial<Pick<Condition, 'since_known'>>
  readonly assignment: Omit<ChannelAssignment, 'channel_id'> | null
}

export function toChannelState(channel: Channel, assignment: ChannelState['assignment']): ChannelState {
  const { name, frequency, last_transmitter, condition, transmitter } = channel
  const { flags: _, ...lasting } = condition
  return {
    name,
    frequency,
    transmitter: transmitter && withoutLevels(transmitter),
    condition: lasting,
    last_transmitter: transmitter === null ? last_transmitter : null,
    assignment,
  }
}

function withoutLevels({ audio_level: _, rf_level: __, ...transmitter }: Transmitter): ChannelState['transmitter'] {
  return transmitter
}

/** Details that change too often for a state of their own. */
const runningDetails = [
  'battery_minutes',
  'battery_minutes_to_full',
  'battery_temperature_c',
] as const satisfies readonly (keyof TransmitterDetails)[]

/**
 * True if the second state needs no new record after the first. Only the battery may differ, because it is recorded
 * with the levels.
 */
export function isSameState(a: ChannelState | null, b: ChannelState | null): boolean {
  return comparedText(a) === comparedText(b)
}

function comparedText(state: ChannelState | null): string {
  if (state === null || state.transmitter === null) return JSON.stringify(state)
  const { battery: _, details, ...transmitter } = state.transmitter
  const lasting: Record<string, unknown> = { ...details }
  for (const name of runningDetails) delete lasting[name]
  return JSON.stringify({ ...state, transmitter: { details: lasting, ...transmitter } })
}

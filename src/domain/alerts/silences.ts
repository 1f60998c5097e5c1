import type { SilenceBody } from '../../contract/alerts.ts'
import type { Group } from '../../contract/groups.ts'
import type { Receiver } from '../equipment/receiver.ts'
import { toTimestamp } from '../timestamp.ts'
import type { Alert, AlertKind } from './alert.ts'
import type { Cause } from './compare-causes.ts'

/** Alerts that match make no sound and send nothing. Empty lists do not restrict; at least one list is not empty. */
export interface Silence {
  readonly id: number
  readonly channels: readonly number[]
  readonly groups: readonly number[]
  readonly kinds: readonly AlertKind[]
  /** Epoch milliseconds. */
  readonly until: number
  readonly reason: string
  readonly by: string
  /** Epoch milliseconds. */
  readonly created_at: number
  readonly version: number
}

export function toSilenceBody({ until, created_at, ...silence }: Silence): SilenceBody {
  return { ...silence, until: toTimestamp(until), created_at: toTimestamp(created_at) }
}

interface AlertChannel {
  readonly id: number
  readonly slot: number
}

/** One channel, all of the receiver, or none for a source. */
export function channelsOfAlert(
  { channel_id, receiver_id, data }: Alert | Cause,
  receiver: Receiver | undefined,
): readonly AlertChannel[] {
  if (receiver_id === null) return []
  const channels = receiver?.channels ?? []
  if (channel_id === null) return channels
  const channel = channels.find(({ id }) => id === channel_id)
  return [channel ?? { id: channel_id, slot: data.slot ?? 0 }]
}

/** An alert about a receiver is silenced by channel or group only if all of its channels are. */
export function isSilenced(
  { kind }: Pick<Alert, 'kind'>,
  channels: readonly AlertChannel[],
  { silences, groups }: { readonly silences: readonly Scope[]; readonly groups: readonly Group[] },
): boolean {
  return findSilence(kind, channels, { silences, groups }) !== undefined
}

type Scope = Pick<SilenceBody, 'channels' | 'groups' | 'kinds'>

export function findSilence<S extends Scope>(
  kind: string,
  channels: readonly AlertChannel[],
  { silences, groups }: { readonly silences: readonly S[]; readonly groups: readonly Group[] },
): S | undefined {
  return silences.find((silence) => {
    if (silence.kinds.length > 0 && !silence.kinds.some((known) => known === kind)) return false
    if (silence.channels.length === 0 && silence.groups.length === 0) return true
    return channels.length > 0 && channels.every((channel) => includesChannel(silence, channel, groups))
  })
}

function includesChannel(silence: Scope, { id, slot }: AlertChannel, groups: readonly Group[]): boolean {
  if (silence.channels.length > 0 && !silence.channels.includes(id)) return false
  if (silence.groups.length === 0) return true
  return groups.some((group) => silence.groups.includes(group.id) && group.slots.includes(slot))
}

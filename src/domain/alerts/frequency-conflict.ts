import type { ConflictKind } from '../../contract/values.ts'
import type { Receiver } from '../equipment/receiver.ts'
import type { Alert } from './alert.ts'
import { toCauseOf } from './channel-alerts.ts'
import type { Cause } from './compare-causes.ts'
import type { AlertEnding } from './describe-alert.ts'

export interface ChannelConflict {
  /** Null if the channel has more conflicts than are listed. */
  readonly kind: ConflictKind | null
  readonly generators: readonly { readonly slot: number; readonly title: string }[]
}

export interface ConflictContext {
  conflictOf(channelId: number): ChannelConflict | null
  /** True while the conflicts of a channel are unknown, or ended only recently. */
  isSettling(channelId: number): boolean
  readonly isInhibited: boolean
}

export function listConflictCauses(receiver: Receiver, { conflictOf, isInhibited }: ConflictContext): readonly Cause[] {
  return receiver.channels.flatMap((channel): Cause[] => {
    const conflict = conflictOf(channel.id)
    if (conflict === null) return []
    const { kind, generators } = conflict
    return [
      toCauseOf('frequency_conflict', receiver, channel, isInhibited, {
        ...(kind !== null && { conflict: kind }),
        generators: generators.map(({ title }) => title),
        conflicts_with: [...generators],
      }),
    ]
  })
}

export function conflictAlertEnding(
  receiver: Receiver,
  { channel_id }: Alert,
  { isSettling, isInhibited }: ConflictContext,
): AlertEnding | null {
  if (!receiver.channels.some(({ id }) => id === channel_id)) return 'unmonitored'
  return isInhibited || isSettling(channel_id ?? 0) ? null : 'resolved'
}

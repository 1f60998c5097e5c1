import type { Receiver } from '../equipment/receiver.ts'
import type { NotifiableAlert } from './plan.ts'

/** Silences, shows, groups, and more general problems. */
export type AlertSurroundings = Pick<NotifiableAlert, 'isSilenced' | 'isInhibited' | 'groupIds' | 'showStartedAt'>

/** True if inhibition, or the slots of groups and shows, may differ. */
export function canChangeSurroundings(before: Receiver | undefined, after: Receiver | undefined): boolean {
  if (before === undefined || after === undefined) return true
  if (before.is_active !== after.is_active) return true
  if (before.channels === after.channels) return false
  if (before.channels.length !== after.channels.length) return true
  return before.channels.some(({ id, slot }, index) => {
    const channel = after.channels[index]
    return channel?.id !== id || channel.slot !== slot
  })
}

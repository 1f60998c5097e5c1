import type { Receiver } from '../equipment/receiver.ts'
import type { AudioRangeKind } from '../events/channel-events.ts'
import { audioRangeKinds } from '../events/channel-events.ts'
import type { Alert, AlertData } from './alert.ts'
import { toCauseOf } from './channel-alerts.ts'
import type { Cause } from './compare-causes.ts'
import type { AlertEnding } from './describe-alert.ts'

export interface AudioFaultContext {
  /** Returns null if the sound of the channel has no such fault. */
  faultOf(channelId: number, kind: AudioRangeKind): Pick<AlertData, 'confirmed_by'> | null
  readonly isInhibited: boolean
}

export function listAudioCauses(receiver: Receiver, { faultOf, isInhibited }: AudioFaultContext): readonly Cause[] {
  return receiver.channels.flatMap((channel) =>
    audioRangeKinds.flatMap((kind): Cause[] => {
      const fault = faultOf(channel.id, kind)
      if (fault === null) return []
      const data = fault.confirmed_by && { confirmed_by: fault.confirmed_by }
      return [toCauseOf(kind, receiver, channel, isInhibited, { ...data })]
    }),
  )
}

export function audioAlertEnding(receiver: Receiver, { channel_id }: Alert): AlertEnding {
  return receiver.channels.some(({ id }) => id === channel_id) ? 'resolved' : 'unmonitored'
}

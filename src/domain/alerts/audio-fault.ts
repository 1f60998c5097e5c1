import type { Receiver } from '../equipment/receiver.ts'
import type { AudioRangeKind } from '../events/channel-events.ts'
import { audioRangeKinds } from '../events/channel-events.ts'
import type { Alert, AlertData } from './alert.ts'
import { toChannelData } from './channel-alerts.ts'
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
      const about = { manufacturer: receiver.manufacturer, receiver_id: receiver.id, channel_id: channel.id }
      const data = {
        ...toChannelData(receiver, channel, null),
        ...(fault.confirmed_by && { confirmed_by: fault.confirmed_by }),
      }
      return [{ subject: `${kind}:${channel.id}`, kind, since: null, isInhibited, ...about, data }]
    }),
  )
}

export function audioAlertEnding(receiver: Receiver, { channel_id }: Alert): AlertEnding {
  return receiver.channels.some(({ id }) => id === channel_id) ? 'resolved' : 'unmonitored'
}

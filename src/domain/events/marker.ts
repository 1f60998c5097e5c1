/** Markers: events that users write. */

import { toChannelData } from '../alerts/channel-alerts.ts'
import type { Channel, Receiver } from '../equipment/receiver.ts'
import { aboutChannel } from './channel-events.ts'
import { aboutAll, draftEvent, type EventDraft } from './event.ts'

/** Times are epoch milliseconds. */
export interface Marker {
  readonly time: number
  /** Null for a moment. */
  readonly until: number | null
  readonly text: string
}

export interface MarkedChannel {
  readonly receiver: Receiver
  readonly channel: Channel
}

/** `marked` is null for all channels. */
export function toMarkerEvent(marker: Marker, marked: MarkedChannel | null, by: string | null): EventDraft {
  if (marked === null) return draftEvent('marker', aboutAll, { ...marker, by })
  const { receiver, channel } = marked
  const data = toChannelData(receiver, channel, null)
  return draftEvent('marker', aboutChannel(receiver, channel), { ...marker, by, data })
}

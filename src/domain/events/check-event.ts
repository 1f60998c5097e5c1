import { toChannelData } from '../alerts/channel-alerts.ts'
import type { Check } from '../checks.ts'
import { aboutChannel } from './channel-events.ts'
import { draftEvent, type EventDraft } from './event.ts'
import type { MarkedChannel } from './marker.ts'

/** Creates the event of a check that has a result. */
export function toCheckEvent(
  { show_id, checked_at, result, note, by }: Check & { readonly checked_at: number },
  { receiver, channel }: MarkedChannel,
): EventDraft {
  return draftEvent('check', aboutChannel(receiver, channel), {
    time: checked_at,
    by,
    severity: result === 'fail' ? 'warning' : 'info',
    data: { ...toChannelData(receiver, channel, null), ...(result !== null && { result }), note, show_id },
  })
}

import type { Alert } from '../alerts/alert.ts'
import { draftEvent, type EventDraft } from './event.ts'

export function toAlertEvent(
  event: 'alert_raised' | 'alert_acknowledged' | 'alert_cleared',
  { id, kind, severity, message, manufacturer, receiver_id, channel_id, data }: Alert,
  { time, by = null }: { readonly time: number; readonly by?: string | null },
): EventDraft {
  return draftEvent(
    event,
    { manufacturer, receiver_id, channel_id },
    {
      time,
      by,
      severity: event === 'alert_raised' ? severity : 'info',
      text: event === 'alert_acknowledged' ? `Acknowledged: ${message}` : message,
      data: { ...data, alert_id: id, kind },
    },
  )
}

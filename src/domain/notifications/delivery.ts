/** How deliveries are displayed. */

import type { NotificationDeliveryBody } from '../../contract/notifications.ts'
import { toTimestamp } from '../api.ts'

/** Times are epoch milliseconds. */
type Delivery = Omit<NotificationDeliveryBody, `${string}_at`> & {
  readonly created_at: number
  readonly last_attempt_at: number | null
  readonly next_attempt_at: number | null
  readonly sent_at: number | null
}

export function toDeliveryBody(delivery: Delivery): NotificationDeliveryBody {
  const { id, notification_channel_id, rule_id, type, alert_ids, status, attempts, last_error } = delivery
  const toTime = (time: number | null) => (time === null ? null : toTimestamp(time))
  return {
    ...{ id, notification_channel_id, rule_id, type, alert_ids, status, attempts, last_error },
    created_at: toTimestamp(delivery.created_at),
    last_attempt_at: toTime(delivery.last_attempt_at),
    next_attempt_at: toTime(delivery.next_attempt_at),
    sent_at: toTime(delivery.sent_at),
  }
}

import { serviceActor } from '../domain/access/access.ts'
import type { NotificationChannel } from '../domain/notifications/channel.ts'
import type { Log } from '../platform/log.ts'
import { writeAudit } from '../storage/audit.ts'
import type { Tx } from '../storage/database.ts'
import { disableNotificationChannel } from '../storage/notifications.ts'
import { nextRevision } from '../storage/revision.ts'

/** Must be called at the beginning of the transaction. */
export async function disableGone(tx: Tx, { id, name }: NotificationChannel, log: Log) {
  await nextRevision(tx, 'notifications')
  await disableNotificationChannel(tx, id)
  const details = { name, reason: 'The service responded with status 410: the address no longer exists.' }
  const target = `notification channel ${id}`
  await writeAudit(tx, { actor: serviceActor, action: 'notification_channel.disable', target, result: 'ok', details })
  tx.afterCommit(() => log.warn({ channel: id, name }, 'notification channel disabled, because of status 410'))
}

/** Shows and acknowledges an alert with a link that a notification channel sent. The link replaces the sign-in. */

import { type AcknowledgeToken, isSignedBy, parseAcknowledgeToken } from '../../alerts/acknowledge-links.ts'
import type { AcknowledgeLinkBody } from '../../contract/alerts.ts'
import type { Actor } from '../../domain/access/access.ts'
import type { Alert } from '../../domain/alerts/alert.ts'
import { RequestError } from '../../domain/errors.ts'
import type { NotificationChannel } from '../../domain/notifications/channel.ts'
import { toChannelAlert } from '../../domain/notifications/message.ts'
import { toTimestamp } from '../../domain/timestamp.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { findAlert } from '../../storage/alerts.ts'
import { findNotificationChannel } from '../../storage/notifications.ts'
import { acknowledge } from './respond-to-alerts.ts'

export async function showAcknowledgeLink(service: Service, text: string): Promise<AcknowledgeLinkBody> {
  return toBody(service, await openLink(service, text))
}

/** The acknowledgement and its audit record name the notification channel. */
export async function useAcknowledgeLink(
  service: Service,
  requester: Pick<Actor, 'address' | 'request'>,
  text: string,
): Promise<AcknowledgeLinkBody> {
  const link = await openLink(service, text)
  const { id, name } = link.channel
  const actor: Actor = { ...requester, kind: 'notification_channel', id, name, role: 'operator' }
  return toBody(service, { ...link, alert: await acknowledge(service, actor, link.alert.id, null) })
}

interface OpenLink {
  readonly token: AcknowledgeToken
  readonly channel: NotificationChannel
  readonly alert: Alert
}

/** Says nothing about alerts and channels unless the link is genuine. Reads the database, which all processes share. */
async function openLink({ db, secrets }: Service, text: string): Promise<OpenLink> {
  const token = parseAcknowledgeToken(text)
  if (token === null) throw new RequestError('wrong_link')
  const channel = await findNotificationChannel(db.read, secrets, token.channelId)
  const alert = await findAlert(db.read, token.alertId)
  if (channel === undefined || alert === undefined || !isSignedBy(token, channel, alert)) {
    throw new RequestError('wrong_link')
  }
  if (now() >= token.expiresAt) throw new RequestError('link_expired')
  if (alert.state === 'cleared') throw new RequestError('alert_cleared', { subject: `Alert ${alert.id}` })
  return { token, channel, alert }
}

function toBody({ alerts }: Service, { token, channel, alert }: OpenLink): AcknowledgeLinkBody {
  const { name, without_names } = channel
  return {
    notification_channel: name,
    expires_at: toTimestamp(token.expiresAt),
    alert: toChannelAlert(alert, { now: now(), without_names, marks: alerts.context.marksOf(alert) }),
  }
}

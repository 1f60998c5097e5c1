/**
 * Links that acknowledge one alert without signing in. They are signed with a key of the notification channel, so nothing
 * is stored for each of them, and they are valid in every process. Without the key, they are not valid.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Alert } from '../domain/alerts/alert.ts'
import type { NotificationChannel } from '../domain/notifications/channel.ts'
import { pathOf, urlOf } from '../domain/pages.ts'

const validMs = 12 * 3_600_000

export function createAcknowledgeKey(): string {
  return randomBytes(32).toString('base64url')
}

type LinkChannel = Pick<NotificationChannel, 'id' | 'acknowledge_key'>
type LinkAlert = Pick<Alert, 'id' | 'raised_at'>

interface LinkContext {
  readonly channel: LinkChannel
  readonly publicUrl: string | null
  /** Epoch milliseconds. */
  readonly sentAt: number
}

/** The link is the same at every try of a message. Null if the alert can be acknowledged only elsewhere, or not at all. */
export function createAcknowledgeUrl({ channel, publicUrl, sentAt }: LinkContext, alert: Alert): string | null {
  if (publicUrl === null || channel.acknowledge_key === null) return null
  if (alert.site !== null || alert.state === 'cleared') return null
  return `${urlOf(publicUrl, pathOf('acknowledge'))}#${createAcknowledgeToken(channel, alert, sentAt + validMs)}`
}

export interface AcknowledgeToken {
  readonly channelId: number
  readonly alertId: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
  readonly signature: string
}

/** Letters, digits and inner hyphens only: programs that find links in a text may cut off anything else. */
export function createAcknowledgeToken(channel: LinkChannel, alert: LinkAlert, expiresAt: number): string {
  const token = { channelId: channel.id, alertId: alert.id, expiresAt }
  return `${token.channelId}-${token.alertId}-${expiresAt}-${sign(token, channel, alert)}`
}

/** Null if the text is no token. */
export function parseAcknowledgeToken(text: string): AcknowledgeToken | null {
  const [, channelId, alertId, expiresAt, signature] =
    /^(\d{1,15})-(\d{1,15})-(\d{1,15})-([\da-f]{32})$/.exec(text) ?? []
  if (signature === undefined) return null
  return { channelId: Number(channelId), alertId: Number(alertId), expiresAt: Number(expiresAt), signature }
}

export function isSignedBy(token: AcknowledgeToken, channel: LinkChannel, alert: LinkAlert): boolean {
  return (
    channel.acknowledge_key !== null &&
    timingSafeEqual(Buffer.from(token.signature), Buffer.from(sign(token, channel, alert)))
  )
}

/** The time of the alert is signed because its id may be given to another alert after a backup was restored. */
function sign(
  { channelId, alertId, expiresAt }: Omit<AcknowledgeToken, 'signature'>,
  { acknowledge_key: key }: LinkChannel,
  { raised_at }: LinkAlert,
): string {
  const text = `acknowledge ${channelId} ${alertId} ${raised_at} ${expiresAt}`
  return createHmac('sha256', Buffer.from(key ?? '', 'base64url'))
    .update(text)
    .digest('hex')
    .slice(0, 32)
}

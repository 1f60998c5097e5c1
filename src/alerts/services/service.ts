import type { NotificationChannelType, ServiceConfig } from '../../contract/notification-services.ts'
import type { NotificationMessage } from '../../domain/notifications/message.ts'
import type { Destinations } from '../../upstream/destinations.ts'

export interface SendResult {
  /** - `failed`: a retry would not help. - `retry`: it can be retried. */
  readonly outcome: 'sent' | 'failed' | 'retry'
  /** Of HTTP or SMTP; null without a response. */
  readonly status: number | null
  /** The first 200 characters of the response. */
  readonly response: string | null
  /** Sentences without secrets; null if all recipients received it. */
  readonly error: string | null
  readonly retryAfterSeconds: number | null
  /** True if the address no longer exists, so that the notification channel is disabled. */
  readonly isGone: boolean
}

export interface SendKit {
  readonly destinations: Destinations
  /** Aborts when the service stops; each try also ends after 10 seconds. */
  readonly signal: AbortSignal
  /** Milliseconds. Default: 10 s. */
  readonly timeoutMs?: number
  /** Epoch milliseconds. */
  now(): number
  /** `server.public_url`, for links in messages. */
  readonly publicUrl: string | null
  /** The secrets that sign a webhook's messages, the newest first; empty for other services. */
  readonly signingSecrets: readonly string[]
}

/** Sends messages to one service. Its fields are in `notificationServiceTable`. */
export interface NotificationService<Type extends NotificationChannelType> {
  /** True if it may connect to link-local addresses, as devices on a network without DHCP have. */
  readonly allowsLinkLocal?: boolean
  /** Checks fields that depend on each other. Throws a RequestError that names the field. */
  check?(config: ServiceConfig<Type>): void
  /** Blocked ones are reported when the channel is saved. Default: `url`. */
  addresses?(config: ServiceConfig<Type>): readonly URL[]
  /** Sends a message once. Never throws, unless the signal aborts. */
  send(config: ServiceConfig<Type>, message: NotificationMessage, kit: SendKit): Promise<SendResult>
}

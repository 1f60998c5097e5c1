/** The text of messages for services that have no title: Slack, Discord and Telegram. */

import type { NotificationMessage } from '../../domain/notifications/message.ts'
import { toNotificationBody, toNotificationText } from '../../domain/notifications/text.ts'

interface ChatTextOptions {
  readonly publicUrl: string | null
  readonly maxChars: number
  /** Escapes the markup of the service. */
  escapeLine(line: string): string
}

/** Returns a title and a line for each alert; for a single alert only its line, because the title would repeat it. */
export function toChatText(message: NotificationMessage, { publicUrl, maxChars, escapeLine }: ChatTextOptions): string {
  const text = toNotificationText(message, publicUrl)
  const lines = text.lines.map(escapeLine)
  const title = message.alerts.length === 1 && message.more === 0 ? '' : `${escapeLine(text.title)}\n`
  return title + toNotificationBody({ ...text, lines }, maxChars - title.length)
}

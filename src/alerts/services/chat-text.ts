/** The text of messages for services that have no title: Slack, Discord and Telegram. */

import type { NotificationMessage } from '../../domain/notifications/message.ts'
import { toNotificationBody, toNotificationText } from '../../domain/notifications/text.ts'

interface ChatTextOptions {
  readonly publicUrl: string | null
  readonly maxChars: number
  escapeLine(line: string): string
}

/** A single alert has no title, because its line would repeat it. */
export function toChatText(message: NotificationMessage, { publicUrl, maxChars, escapeLine }: ChatTextOptions): string {
  const text = toNotificationText(message, publicUrl)
  const lines = text.lines.map((line) => ({ ...line, text: escapeLine(line.text) }))
  const title = message.alerts.length === 1 && message.more === 0 ? '' : `${escapeLine(text.title)}\n`
  return title + toNotificationBody({ ...text, lines }, maxChars - title.length)
}

/** Slack's incoming webhooks, and services that accept the same requests. */

import { toChatText } from './chat-text.ts'
import { post, secretsOf } from './http.ts'
import { toJson } from './payload.ts'
import type { NotificationService } from './service.ts'

/** Slack truncates longer text. */
const maxTextChars = 4000

export const slack: NotificationService<'slack'> = {
  send(config, message, kit) {
    const text = toChatText(message, { publicUrl: kit.publicUrl, maxChars: maxTextChars, escapeLine: escapeSlack })
    const url = new URL(config.url)
    const body = toJson({ text, mrkdwn: false, unfurl_links: false, unfurl_media: false })
    return post({ url, name: 'Slack', body, secrets: secretsOf(url) }, kit)
  },
}

/** Escapes what Slack treats as control characters. Without these, a text contains no mentions, links or commands. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

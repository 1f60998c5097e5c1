/** Discord's webhooks. */

import { isRecord } from '../../domain/json.ts'
import { toChatText } from './chat-text.ts'
import { post, secretsOf } from './http.ts'
import { toJson } from './payload.ts'
import type { NotificationService } from './service.ts'

const maxContentChars = 2000

export const discord: NotificationService<'discord'> = {
  send(config, message, kit) {
    const content = toChatText(message, {
      publicUrl: kit.publicUrl,
      maxChars: maxContentChars,
      escapeLine: escapeMarkdown,
    })
    const url = new URL(config.url)
    const secrets = secretsOf(url)
    // Otherwise Discord responds before it has stored the message.
    url.searchParams.set('wait', 'true')
    const body = toJson({ content, allowed_mentions: { parse: [] } })
    return post({ url, name: 'Discord', body, secrets, findRetryAfter }, kit)
  },
}

/** Escapes every character that may begin markup; Discord removes a backslash before any punctuation. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\*_~`|<>[\]()#@:+\-.]/g, '\\$&')
}

function findRetryAfter(json: unknown): unknown {
  return isRecord(json) ? json.retry_after : undefined
}

/** Telegram's Bot API. */

import { isRecord } from '../../domain/json.ts'
import { toChatText } from './chat-text.ts'
import { post, type ReceivedResponse } from './http.ts'
import { toJson } from './payload.ts'
import type { NotificationService } from './service.ts'

const publicServer = 'https://api.telegram.org'
const maxTextChars = 4096

export const telegram: NotificationService<'telegram'> = {
  addresses: ({ server = publicServer }) => [new URL(server)],
  send(config, message, kit) {
    const text = toChatText(message, { publicUrl: kit.publicUrl, maxChars: maxTextChars, escapeLine: withoutMentions })
    const url = new URL(`${(config.server ?? publicServer).replace(/\/$/, '')}/bot${config.token}/sendMessage`)
    const body = toJson({ chat_id: config.chat_id, text, link_preview_options: { is_disabled: true } })
    return post({ url, body, secrets: [config.token], findProblem, findRetryAfter }, kit)
  },
}

/** Telegram finds names of users, commands and hashtags in plain text. An invisible character after the sign prevents it. */
function withoutMentions(text: string): string {
  return text.replace(/(?<![\p{L}\p{N}_])[@#/$](?=[\p{L}\p{N}_])/gu, '$&\u2060')
}

/** A web page of a proxy or of a network's sign-in is not a success. */
function findProblem({ json }: ReceivedResponse): string | null {
  return isRecord(json) && json.ok === true ? null : 'The response is not one of Telegram. Check the server.'
}

function findRetryAfter(json: unknown): unknown {
  return isRecord(json) && isRecord(json.parameters) ? json.parameters.retry_after : undefined
}

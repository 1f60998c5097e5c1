/** Apprise API, a program that passes messages on to many other services (caronc/apprise-api). */

import { toNotificationBody, toNotificationText } from '../../domain/notifications/text.ts'
import { line, optional, parseFields, webUrl } from './config-fields.ts'
import { post, type ReceivedResponse } from './http.ts'
import { toJson } from './payload.ts'
import type { NotificationService } from './service.ts'

interface AppriseConfig {
  readonly url: string
  /** The key of a configuration that the server has stored. Without a key and `urls`, the server uses its own default. */
  readonly key?: string | undefined
  /** Restricts the services to those with this tag. */
  readonly tag?: string | undefined
  /** Services that the server has not stored. */
  readonly urls?: string | undefined
}

const maxBodyBytes = 10_000
const types = { critical: 'failure', warning: 'warning', info: 'info' } as const

export const apprise: NotificationService<AppriseConfig> = {
  secrets: ['urls'],
  allowsLinkLocal: false,
  parse(config) {
    return parseFields(config, {
      url: webUrl({ path: 'no_query' }),
      key: optional(line(128, { pattern: /^[\w-]+$/, expected: 'expected letters, digits, _ and -' })),
      tag: optional(line(255)),
      urls: optional(line(8192)),
    })
  },
  addresses: ({ url }) => [new URL(url)],
  send({ url, key, tag, urls }, message, kit) {
    const text = toNotificationText(message, kit.publicUrl)
    const type = message.type === 'alert.cleared' ? 'success' : types[text.severity]
    const content = toNotificationBody(text, maxBodyBytes)
    const path = key === undefined ? '/notify/' : `/notify/${key}`
    return post(
      {
        url: new URL(`${url.replace(/\/$/, '')}${path}`),
        body: toJson({ title: text.title, body: content, type, format: 'text', tag, urls }),
        secrets: urls === undefined ? [] : [urls, ...urls.split(/[\s,]+/)],
        findProblem,
      },
      kit,
    )
  },
}

/** The status of a request for which the server knows no services. */
const noServices = 204

function findProblem({ status }: ReceivedResponse): string | null {
  return status === noServices ? 'Apprise has no services to notify. Check the key, the tag and the URLs.' : null
}

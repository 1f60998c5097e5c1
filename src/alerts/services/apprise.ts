/** Apprise API, a program that passes messages on to many other services (caronc/apprise-api). */

import { toNotificationBody, toNotificationText } from '../../domain/notifications/text.ts'
import { post, type ReceivedResponse } from './http.ts'
import { toJson } from './payload.ts'
import type { NotificationService } from './service.ts'

const maxBodyBytes = 10_000
const types = { critical: 'failure', warning: 'warning', info: 'info' } as const

export const apprise: NotificationService<'apprise'> = {
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

/** Apprise responds with 204 if no services match. */
const noServices = 204

function findProblem({ status }: ReceivedResponse): string | null {
  return status === noServices ? 'Apprise has no services to notify. Check the key, the tag and the URLs.' : null
}

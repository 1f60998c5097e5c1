/** ntfy: notifications on phones, from ntfy.sh or a server of one's own. */

import { configError } from '../../domain/notifications/config-fields.ts'
import { utf8Length } from '../../domain/notifications/plain-text.ts'
import {
  acknowledgeLabel,
  toNotificationBody,
  toNotificationText,
  withoutLink,
} from '../../domain/notifications/text.ts'
import { post } from './http.ts'
import { toJson } from './payload.ts'
import type { NotificationService } from './service.ts'

/** A longer message becomes an attachment, or is refused. */
const maxMessageBytes = 4096
/** The server reads at most this much JSON. */
const maxJsonBytes = 8192

const priorities = { critical: 5, warning: 4, info: 3 } as const
const tags = { critical: 'rotating_light', warning: 'warning', info: 'information_source' } as const

export const ntfy: NotificationService<'ntfy'> = {
  check({ token, username, password }) {
    if (token !== undefined && username !== undefined)
      throw configError('token', 'expected a token or a user name, not both')
    if (username !== undefined && password === undefined) throw configError('password', 'missing')
    if (username === undefined && password !== undefined) throw configError('username', 'missing')
  },
  send({ url, topic, token, username, password = '' }, message, kit) {
    const { acknowledgeUrl, ...text } = withoutLink(toNotificationText(message, kit.publicUrl))
    const { title, severity } = text
    const tag = message.type === 'alert.cleared' ? 'white_check_mark' : tags[severity]
    const click = text.url === null ? {} : { click: text.url }
    const actions =
      acknowledgeUrl === null ? {} : { actions: [{ action: 'view', label: acknowledgeLabel, url: acknowledgeUrl }] }
    const toBody = (maxBytes: number) => {
      const content = toNotificationBody({ ...text, url: null }, maxBytes)
      return toJson({
        topic,
        title,
        message: content,
        priority: priorities[severity],
        tags: [tag],
        ...click,
        ...actions,
      })
    }
    const body = toBody(maxMessageBytes)
    const basic = Buffer.from(`${username}:${password}`).toString('base64')
    const authorization = token !== undefined ? `Bearer ${token}` : username !== undefined ? `Basic ${basic}` : null
    return post(
      {
        url: new URL('/', url),
        ...(authorization !== null && { headers: { authorization } }),
        // Escaped characters in JSON may make a text longer.
        body: utf8Length(body) <= maxJsonBytes ? body : toBody(maxMessageBytes / 2),
        secrets: [token ?? '', password, basic],
      },
      kit,
    )
  },
}

/** Gotify: notifications on phones, from a server of one's own. */

import { toNotificationBody, toNotificationText } from '../../domain/notifications/text.ts'
import { post } from './http.ts'
import { toJson } from './payload.ts'
import type { NotificationService } from './service.ts'

/** The app vibrates and makes a sound from 8 on, makes a sound from 4 on, and is silent below. */
const priorities = { critical: 8, warning: 5, info: 2 } as const
const maxMessageBytes = 10_000

export const gotify: NotificationService<'gotify'> = {
  send({ url, token }, message, kit) {
    const text = toNotificationText(message, kit.publicUrl)
    const extras = {
      'client::display': { contentType: 'text/plain' },
      ...(text.url !== null && { 'client::notification': { click: { url: text.url } } }),
    }
    const priority = priorities[text.severity]
    const body = toJson({ title: text.title, message: toNotificationBody(text, maxMessageBytes), priority, extras })
    const target = new URL(`${url.replace(/\/$/, '')}/message`)
    return post({ url: target, headers: { 'x-gotify-key': token }, body, secrets: [token] }, kit)
  },
}

/** Webhooks as Standard Webhooks 1.0 describes them (standard-webhooks/standard-webhooks: spec/standard-webhooks.md). */

import { createHmac, randomBytes } from 'node:crypto'
import { post } from './http.ts'
import { toJson, toPayload } from './payload.ts'
import type { NotificationService } from './service.ts'

const prefix = 'whsec_'

export function createSigningSecret(): string {
  return prefix + randomBytes(32).toString('base64')
}

export const webhook: NotificationService<'webhook'> = {
  async send({ url }, message, kit) {
    const body = toJson(toPayload(message))
    const timestamp = Math.floor(kit.now() / 1000)
    const signatures = kit.signingSecrets.map((secret) => sign(secret, `${message.id}.${timestamp}.${body}`))
    const headers = {
      'webhook-id': message.id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatures.join(' '),
    }
    const result = await post({ url: new URL(url), headers, body }, kit)
    return result.status === 410 ? { ...result, isGone: true } : result
  },
}

function sign(secret: string, text: string): string {
  const key = Buffer.from(secret.slice(prefix.length), 'base64')
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`
}

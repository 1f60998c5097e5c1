/** Verifies messages as the receiver of a Standard Webhook does, independently of the code that signs them. */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

const toleranceSeconds = 5 * 60

/** Returns why a message must be rejected; null if it is authentic. */
export function verifyWebhook(
  secret: string,
  headers: IncomingHttpHeaders,
  body: string,
  nowSeconds = Date.now() / 1000,
): string | null {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers
  if (typeof id !== 'string' || id === '' || id.includes('.')) return 'webhook-id is missing or contains a dot'
  if (typeof timestamp !== 'string' || !/^\d{10}$/.test(timestamp)) return 'webhook-timestamp is not in seconds'
  if (Math.abs(nowSeconds - Number(timestamp)) > toleranceSeconds) return 'webhook-timestamp is too old or too new'
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(secret) ?? []
  const mac = createHmac(
    'sha256',
    Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)),
  )
  mac.update([id, timestamp, body].join('.'), 'utf8')
  const expected = mac.digest()
  const isSigned = String(signature ?? '')
    .split(' ')
    .map((part) => part.split(','))
    .some(([version, value = '']) => {
      const given = Buffer.from(value, 'base64')
      return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
    })
  return isSigned ? null : 'no signature matches'
}

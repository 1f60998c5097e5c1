import { RequestError } from '../../domain/errors.ts'
import { type NotificationChannel, signingSecrets } from '../../domain/notifications/channel.ts'
import type { NotificationMessage } from '../../domain/notifications/message.ts'
import { notificationServices } from './index.ts'
import { createResult, redact } from './send-result.ts'
import type { SendKit, SendResult } from './service.ts'

/** Services end a try after 10 seconds; this limit holds for a service that does not. */
const hardLimitMs = 12_000

/** Sends a message once. Never throws, unless the signal aborts. */
export async function sendMessage(
  channel: NotificationChannel,
  message: NotificationMessage,
  kit: Omit<SendKit, 'signingSecrets'>,
): Promise<SendResult> {
  const { type, config, secrets } = channel
  if (secrets === null) {
    const error = 'The secrets of this notification channel cannot be decrypted. Enter them again.'
    return createResult('failed', { error })
  }
  const service = notificationServices[type]
  try {
    const parsed = service.parse({ ...config, ...secrets })
    const sending = service.send(parsed, message, { ...kit, signingSecrets: signingSecrets(channel, kit.now()) })
    return withoutSecrets(await endAfterLimit(sending), secrets)
  } catch (error) {
    kit.signal.throwIfAborted()
    const isInvalid = error instanceof RequestError
    const reason = isInvalid ? `Its configuration is not valid: ${error.details}.` : 'An internal error occurred.'
    return createResult('failed', { error: `Nothing was sent. ${reason}` })
  }
}

async function endAfterLimit(sending: Promise<SendResult>): Promise<SendResult> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<SendResult>((resolve) => {
    const error = `The service did not respond within ${hardLimitMs / 1000} s.`
    timer = setTimeout(() => resolve(createResult('retry', { error })), hardLimitMs)
  })
  try {
    return await Promise.race([sending, late])
  } finally {
    clearTimeout(timer)
  }
}

function withoutSecrets(result: SendResult, secrets: Readonly<Record<string, unknown>>): SendResult {
  const texts = Object.values(secrets)
    .flat()
    .filter((value) => typeof value === 'string')
  const clean = (text: string | null) => (text === null ? null : redact(text, texts))
  return { ...result, error: clean(result.error), response: clean(result.response) }
}

/** Email by SMTP. */

import type { ServiceConfig } from '../../contract/notification-services.ts'
import { addressOf, configError } from '../../domain/notifications/config-fields.ts'
import type { NotificationMessage } from '../../domain/notifications/message.ts'
import { toNotificationBody, toNotificationText } from '../../domain/notifications/text.ts'
import { openSocket, withoutLinkLocal } from '../../upstream/destinations.ts'
import { createResult, redact, runWithinLimit, toFailure } from './send-result.ts'
import type { NotificationService, SendKit, SendResult } from './service.ts'

const maxBodyBytes = 20_000

export const email: NotificationService<'email'> = {
  check({ username, password }) {
    if (password !== null && username === null) throw configError('username', 'missing')
  },
  addresses: ({ host, port, security }) => [new URL(addressOf(host, port, security !== 'none'))],
  async send(config, message, kit) {
    const name = `${config.host}:${config.port}`
    try {
      return await runWithinLimit(kit, (signal) => sendMail(config, message, kit, signal))
    } catch (error) {
      kit.signal.throwIfAborted()
      return toSmtpFailure(error, config, name, kit)
    }
  },
}

async function sendMail(
  config: ServiceConfig<'email'>,
  message: NotificationMessage,
  kit: SendKit,
  signal: AbortSignal,
): Promise<SendResult> {
  const { host, port, security, username, password } = config
  const url = new URL(addressOf(host, port))
  // Loaded on demand, because most installations send no email.
  const { createTransport } = await import('nodemailer')
  const connection = await openSocket(url, withoutLinkLocal(kit.destinations), signal)
  try {
    const transport = createTransport({
      connection,
      host,
      port,
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'none',
      ...(username !== null && { auth: { user: username, pass: password ?? '' } }),
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    return toResult(await transport.sendMail({ ...toMail(config, message, kit), signal }), config)
  } finally {
    connection.destroy()
  }
}

/**
 * Only plain text, the subject and the addresses depend on data; nodemailer encodes and folds them. It does not encode a
 * subject of ASCII characters, so an invisible character stops mail programs from decoding one that looks encoded.
 */
function toMail({ from, to }: ServiceConfig<'email'>, message: NotificationMessage, { publicUrl }: SendKit) {
  const text = toNotificationText(message, publicUrl)
  const sender = parseSender(from)
  return {
    from: sender,
    to: to.map((address) => ({ name: '', address })),
    subject: text.title.replaceAll('=?', '=\u2060?'),
    text: toNotificationBody(text, maxBodyBytes),
    textEncoding: 'quoted-printable',
    priority: text.severity === 'critical' ? 'high' : 'normal',
    date: new Date(message.created_at),
    messageId: `<${message.id.replace(/[^\w-]/g, '-')}@${sender.address.split('@')[1]}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  } as const
}

function parseSender(text: string): { readonly name: string; readonly address: string } {
  const [, name = '', address = text] = /^(.*)<(.+)>$/.exec(text) ?? []
  return { name: name.trim(), address }
}

interface SmtpReply {
  readonly response?: string | undefined
  readonly responseCode?: number | undefined
}

interface Delivered extends SmtpReply {
  readonly accepted: readonly string[]
  readonly rejectedErrors?: readonly (SmtpReply & { readonly recipient?: string | undefined })[] | undefined
}

/**
 * The message was accepted for at least one recipient. If the server asks to try another one later, it is sent again to
 * all, because the message must reach every recipient.
 */
function toResult({ response = '', rejectedErrors = [] }: Delivered, config: ServiceConfig<'email'>): SendResult {
  const details = { status: toStatus(response), response: redactFor(config, response) }
  if (rejectedErrors.length === 0) return createResult('sent', details)
  const refusals = rejectedErrors.map((error) => `${error.recipient} (${error.response})`).join(', ')
  const error = redactFor(config, `Not accepted for ${refusals}.`)
  const isRetried = rejectedErrors.some(({ responseCode = 0 }) => isTemporaryReply(responseCode))
  return createResult(isRetried ? 'retry' : 'sent', { ...details, error })
}

interface SmtpError extends SmtpReply {
  readonly command?: string | undefined
  readonly originalCode?: string | undefined
  readonly rejectedErrors?: readonly SmtpReply[] | undefined
}

function toSmtpFailure(thrown: unknown, config: ServiceConfig<'email'>, name: string, kit: SendKit): SendResult {
  const { command, response, responseCode, originalCode, rejectedErrors = [] } = (thrown ?? {}) as SmtpError
  if (response === undefined || responseCode === undefined) {
    return toFailure(originalCode === undefined ? thrown : { code: originalCode }, name, kit)
  }
  const isRetried = [responseCode, ...rejectedErrors.map((error) => error.responseCode ?? 0)].some(isTemporaryReply)
  const text = redactFor(config, response)
  const error =
    command === 'STARTTLS'
      ? `${name} does not offer STARTTLS, so nothing was sent. It responded: ${text}`
      : `${name} responded: ${text}`
  return createResult(isRetried ? 'retry' : 'failed', { status: responseCode, response: text, error })
}

function isTemporaryReply(code: number): boolean {
  return code >= 400 && code < 500
}

function toStatus(response: string): number | null {
  const code = Number(response.slice(0, 3))
  return Number.isInteger(code) && code > 0 ? code : null
}

/** A server may echo its input. SMTP sends a password in base64. */
function redactFor({ username, password }: ServiceConfig<'email'>, text: string): string {
  if (password === null) return text
  const base64 = [password, `\0${username}\0${password}`].map((value) => Buffer.from(value).toString('base64'))
  return redact(text, [password, ...base64])
}

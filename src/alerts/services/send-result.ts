import { setMaxListeners } from 'node:events'
import { codeOf, describeConnectionError, isCertificateCode } from '../../upstream/errors.ts'
import { cleanText } from '../../upstream/fields.ts'
import type { SendKit, SendResult } from './service.ts'

export const defaultTimeoutMs = 10_000
const maxResponseChars = 200
const maxErrorChars = 500

export function createResult(
  outcome: SendResult['outcome'],
  { error = null, response = null, ...details }: Partial<Omit<SendResult, 'outcome'>>,
): SendResult {
  return {
    outcome,
    status: null,
    retryAfterSeconds: null,
    isGone: false,
    ...details,
    error: error === null ? null : cleanText(error, maxErrorChars),
    response: response === null ? null : cleanText(response, maxResponseChars) || null,
  }
}

/** `name` is that of the service, for errors. */
export function toFailure(error: unknown, name: string, { timeoutMs = defaultTimeoutMs }: SendKit): SendResult {
  const code = codeOf(error)
  if (code === 'BLOCKED_DESTINATION') {
    const reason = 'it is a link-local, metadata, multicast or unspecified address, or an address of this service'
    return createResult('failed', { error: `Nothing is sent to ${name}: ${reason}.` })
  }
  return createResult('retry', { error: toSentence(describeFailure(code, error, name, timeoutMs)) })
}

function describeFailure(code: string, error: unknown, name: string, timeoutMs: number): string {
  if (isCertificateCode(code)) {
    return `The certificate of ${name} was not accepted (${code}). Install a certificate that this machine trusts`
  }
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return `${name} does not use TLS on this port. Check the address and the port`
  }
  return describeConnectionError(error, name, timeoutMs).replace(/; ./, (text) => `. ${text.slice(2).toUpperCase()}`)
}

function toSentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}

export function redact(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [secret, encodeURIComponent(secret.toWellFormed())])
  const longestFirst = forms.filter((form) => form !== '').toSorted((a, b) => b.length - a.length)
  return longestFirst.reduce((redacted, form) => redacted.replaceAll(form, '********'), text)
}

/**
 * Runs one try with a signal that aborts when the service stops or the time limit has passed. Then it throws the reason
 * of the kit's signal, or an error with the code `DEADLINE`.
 */
export async function runWithinLimit<T>(
  { signal, timeoutMs = defaultTimeoutMs }: SendKit,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const controller = new AbortController()
  const deadline = Object.assign(new Error('timeout'), { code: 'DEADLINE' })
  const timer = setTimeout(() => controller.abort(deadline), timeoutMs)
  // `AbortSignal.any` is not used, because the kit's signal lives as long as the process and would collect listeners.
  const abort = () => controller.abort(signal.reason)
  // Many messages are sent at the same time.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await run(controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

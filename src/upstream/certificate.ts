/** Verifies TLS certificates against the machine's certificate authorities or one pinned fingerprint, or not at all. */

import { once } from 'node:events'
import { isIP, type Socket } from 'node:net'
import {
  type ConnectionOptions,
  connect as connectTls,
  createSecureContext,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'

export interface Trust {
  readonly verifySsl: boolean
  /** SHA-256 of the only accepted certificate, regardless of its issuer; upper case with colons. */
  readonly fingerprint?: string | null
}

/** Normalizes a SHA-256 fingerprint to upper case with colons. Returns null if it is invalid. */
export function parseFingerprint(text: string): string | null {
  const digits = text.replace(/^sha-?256[:=\s]/i, '').replace(/[\s:]/g, '')
  return /^[0-9a-f]{64}$/i.test(digits) ? (digits.toUpperCase().match(/../g) ?? []).join(':') : null
}

/**
 * Shared by all connections, because creating a context takes about a millisecond. The options determine the
 * verification.
 */
let secureContext: SecureContext | undefined

/**
 * Returns the TLS options for undici and Node. Pinning accepts any issuer, and disables session resumption, which would
 * skip the check.
 */
export function tlsOptions({ verifySsl, fingerprint = null }: Trust): {
  readonly secureContext: SecureContext
  readonly rejectUnauthorized: boolean
  readonly maxCachedSessions?: number
} {
  secureContext ??= createSecureContext()
  if (fingerprint === null) return { secureContext, rejectUnauthorized: verifySsl }
  return { secureContext, rejectUnauthorized: false, maxCachedSessions: 0 }
}

/** Returns why an established connection must not be used, or null. */
export function certificateError(socket: object, { fingerprint = null }: Trust): Error | null {
  if (fingerprint === null) return null
  const actual = (socket as Partial<TLSSocket>).getPeerX509Certificate?.()?.fingerprint256
  return actual === fingerprint ? null : new WrongCertificateError(actual ?? 'none')
}

/** Closes the connection before any data is sent if the certificate is not the pinned one. */
export function connectPinned(options: ConnectionOptions, trust: Trust): TLSSocket {
  const { host = '' } = options
  // Node would treat `path` as a local socket, and an IP address is not a valid server name.
  const target = { ...options, path: undefined, servername: isIP(host) === 0 ? host : '' }
  const socket = connectTls({ ...target, rejectUnauthorized: false })
  // This listener is registered first, so that it runs before data written during the handshake is sent.
  socket.once('secureConnect', () => {
    const error = certificateError(socket, trust)
    if (error !== null) socket.destroy(error)
  })
  return socket
}

export async function readPeerFingerprint(socket: Socket, host: string, signal: AbortSignal): Promise<string | null> {
  const secured = connectTls({ socket, servername: isIP(host) === 0 ? host : '', rejectUnauthorized: false })
  try {
    await once(secured, 'secureConnect', { signal })
    return secured.getPeerX509Certificate()?.fingerprint256 ?? null
  } finally {
    secured.destroy()
  }
}

/** The message is the fingerprint that was found; `describeConnectionError` builds the sentence. */
class WrongCertificateError extends Error {
  override readonly name = 'WrongCertificateError'
  readonly code = 'WRONG_CERTIFICATE'
}

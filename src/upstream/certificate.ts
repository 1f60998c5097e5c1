/** Whom a TLS connection believes: an authority the machine trusts, one certificate known by its fingerprint, or anybody. */

import { isIP } from 'node:net'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'

/** What a manufacturer's configuration says of it. */
export interface Trust {
  readonly verifySsl: boolean
  /** SHA-256 of the one certificate that is accepted, whoever signed it: upper case with colons. */
  readonly fingerprint?: string | null
}

/** A SHA-256 fingerprint as people copy it, with or without colons -> upper case with colons; null where it is none. */
export function parseFingerprint(text: string): string | null {
  const digits = text.replace(/^sha-?256[:=\s]/i, '').replace(/[\s:]/g, '')
  return /^[0-9a-f]{64}$/i.test(digits) ? (digits.toUpperCase().match(/../g) ?? []).join(':') : null
}

/** For undici and Node: a pinned certificate need not be signed by anybody, and no session stands in for it. */
export function tlsOptions({ verifySsl, fingerprint = null }: Trust): {
  readonly rejectUnauthorized: boolean
  readonly maxCachedSessions?: number
} {
  return fingerprint === null ? { rejectUnauthorized: verifySsl } : { rejectUnauthorized: false, maxCachedSessions: 0 }
}

/** Why this connection must not be used, though it was made; null when it may. */
export function certificateError(socket: object, { fingerprint = null }: Trust): Error | null {
  if (fingerprint === null) return null
  const found = (socket as Partial<TLSSocket>).getPeerX509Certificate?.()?.fingerprint256
  return found === fingerprint ? null : new WrongCertificateError(found ?? 'none')
}

/** Connects, and lets go before anything is sent where the certificate is not the pinned one. */
export function connectPinned(options: ConnectionOptions, trust: Trust): TLSSocket {
  const { host = '' } = options
  // A path would be taken for that of a local socket, and an address is no server name.
  const target = { ...options, path: undefined, servername: isIP(host) === 0 ? host : '' }
  const socket = connectTls({ ...target, rejectUnauthorized: false })
  // The first to hear of it, before the handshake lets through what was written meanwhile.
  socket.once('secureConnect', () => {
    const fault = certificateError(socket, trust)
    if (fault !== null) socket.destroy(fault)
  })
  return socket
}

/** Says which certificate was met instead; `trouble.ts` has the sentence. */
class WrongCertificateError extends Error {
  override readonly name = 'WrongCertificateError'
  readonly code = 'WRONG_CERTIFICATE'
}

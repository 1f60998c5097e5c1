/** Replaces the TLS certificate when its files change, and renews a self-signed certificate. */

import { X509Certificate } from 'node:crypto'
import type { Server } from 'node:https'
import type { FastifyBaseLogger } from 'fastify'
import { type CertificatePair, readCertificatePair } from '../../storage/certificate.ts'

interface Certificate {
  readonly server: Server
  readonly files: CertificatePair
  /** The contents of the files that the server uses. */
  readonly current: CertificatePair
  /** Creates another self-signed certificate if `current` expires soon; null for configured files. */
  readonly renew: ((current: X509Certificate) => Promise<void>) | null
  readonly log: FastifyBaseLogger
}

/**
 * Replaces the certificate of a running server; open connections keep theirs. While the files do not match, for example
 * because only one of them has been replaced, the previous certificate stays in use.
 */
export class CertificateReloader {
  readonly #certificate: Certificate
  #current: CertificatePair
  /** The problem that was logged last, so that it is logged once. */
  #problem: string | null = null

  constructor(certificate: Certificate) {
    this.#certificate = certificate
    this.#current = certificate.current
  }

  async check(): Promise<void> {
    const { server, files, renew, log } = this.#certificate
    try {
      await renew?.(new X509Certificate(this.#current.cert))
      const { cert, key } = await readCertificatePair(files)
      this.#problem = null
      if (cert === this.#current.cert && key === this.#current.key) return
      server.setSecureContext({ cert, key })
      this.#current = { cert, key }
      const { fingerprint256, validTo } = new X509Certificate(cert)
      log.info({ fingerprint: fingerprint256, valid_to: validTo }, 'the TLS certificate was replaced')
    } catch (error) {
      const { message } = error as Error
      if (message === this.#problem) return
      this.#problem = message
      log.warn({ error: message }, 'the TLS certificate was not replaced; the previous one stays in use')
    }
  }
}

/** The certificate of the service: created or read, and read again when its files change. */

import type { X509Certificate } from 'node:crypto'
import type { Server as HttpsServer } from 'node:https'
import { hostname } from 'node:os'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { SetupOptions } from '../../actions/access/access.ts'
import type { Config } from '../../config.ts'
import { now } from '../../platform/clock.ts'
import { pause } from '../../platform/wait.ts'
import {
  type CertificatePair,
  isDueForRenewal,
  openCertificate,
  readCertificatePair,
  readMissingNames,
} from '../../storage/certificate.ts'
import { CertificateReloader } from '../server/certificate-reloader.ts'

/** How often the certificate is read again. */
const certificateCheckMs = 5000

export interface Tls {
  readonly files: CertificatePair
  /** The contents of the files. */
  readonly pair: CertificatePair
  /** Creates another self-signed certificate if `current` expires soon; null for configured files. */
  readonly renew: ((current: X509Certificate) => Promise<void>) | null
}

/** Reads or creates the certificate and key to use; null without TLS. */
export async function openTls({ tls, data_dir, server }: Config, { print }: SetupOptions): Promise<Tls | null> {
  if (tls === null) return null
  if (tls !== 'auto') return { files: tls, pair: await readCertificatePair(tls), renew: null }
  const names = [server.host, hostname(), `${hostname()}.local`, ...server.allowed_hosts]
  const open = async () => {
    const certificate = await openCertificate(data_dir, names, now())
    return { ...certificate, line: `a self-signed certificate with the SHA-256 fingerprint ${certificate.fingerprint}` }
  }
  const { cert, key, isNew, line } = await open()
  print?.(`${isNew ? 'Created' : 'Using'} ${line}`)
  const renew = async (current: X509Certificate) => {
    if (!isDueForRenewal(current, now())) return
    const renewed = await open()
    if (renewed.isNew) print?.(`Created ${renewed.line}`)
  }
  return { files: { cert, key }, pair: await readCertificatePair({ cert, key }), renew }
}

/**
 * Logs the names in `server.allowed_hosts` for which the self-signed certificate is not valid. It is not replaced, because
 * browsers would warn again about a certificate that their users have accepted.
 */
export async function reportMissingNames({ tls, data_dir, server }: Config, log: FastifyBaseLogger): Promise<void> {
  if (tls !== 'auto') return
  const names = await readMissingNames(data_dir, server.allowed_hosts).catch(() => [])
  if (names.length === 0) return
  const message =
    'the self-signed certificate is not valid for these names; to create one that is, stop the service, delete tls.crt and tls.key in the data folder, and start it'
  log.warn({ names }, message)
}

/** Reads the certificate again every `certificateCheckMs`, until the signal aborts. */
export async function keepCertificate(server: FastifyInstance, tls: Tls, log: FastifyBaseLogger, signal: AbortSignal) {
  const { files, pair, renew } = tls
  const httpsServer = server.server as unknown as HttpsServer
  const reloader = new CertificateReloader({ server: httpsServer, files, current: pair, renew, log })
  while (await pause(certificateCheckMs, signal)) await reloader.check()
}

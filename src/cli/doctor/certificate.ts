/** Checks the usability, expiry and names of the TLS certificate. */

import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { missingNames, readCertificatePair } from '../../storage/certificate.ts'
import { asServiceUser, type Finding, failed, isAccessDenied, passed, reasonOf, undetermined } from './check.ts'

const dayMs = 24 * 3_600_000
/** A certificate should be renewed earlier than this. */
const soonDays = 14

export async function checkCertificate(config: Config, now: number): Promise<Finding> {
  const { tls, data_dir } = config
  if (tls === null)
    return passed('TLS is off: traffic is not encrypted. To encrypt it, set tls to auto, or to your own certificate.')
  const files = tls === 'auto' ? { cert: join(data_dir, 'tls.crt'), key: join(data_dir, 'tls.key') } : tls
  if (tls === 'auto' && !existsSync(files.cert)) return passed('The next start creates a self-signed certificate.')
  try {
    const { cert } = await readCertificatePair(files)
    return judge(new X509Certificate(cert), files.cert, config, now)
  } catch (error) {
    return error instanceof Error && isAccessDenied(error.cause)
      ? undetermined(`${reasonOf(error)}. ${asServiceUser}`)
      : failed(`${reasonOf(error)}.`)
  }
}

function judge(certificate: X509Certificate, path: string, { tls, server }: Config, now: number): Finding {
  const days = Math.floor((Date.parse(certificate.validTo) - now) / dayMs)
  const renew =
    tls === 'auto'
      ? 'Restart the service, which renews it.'
      : 'Renew it; the service reads the new files automatically.'
  const until = certificate.validTo
  if (Date.parse(certificate.validFrom) > now)
    return failed(`The certificate ${path} is valid from ${certificate.validFrom}. Check the clock of this machine.`)
  if (days < 0) return failed(`The certificate ${path} expired on ${until}. ${renew}`)
  if (days < soonDays) return failed(`The certificate ${path} expires in ${days} days, on ${until}. ${renew}`)
  const publicName = server.public_url === null ? [] : [new URL(server.public_url).hostname.replace(/^\[|\]$/g, '')]
  const names = [...new Set([...publicName, ...server.allowed_hosts])]
  const missing = missingNames(certificate, names)
  // Browsers warn about a self-signed certificate whatever its names.
  if (missing.length === 0 || tls === 'auto')
    return passed(`The certificate ${path} is valid until ${until} (${days} days).`)
  return failed(
    `The certificate ${path} is not valid for ${missing.join(', ')}, so browsers reject it there. Request one that includes these names, or remove them from server.allowed_hosts and server.public_url.`,
  )
}

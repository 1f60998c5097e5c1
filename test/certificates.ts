/**
 * Creates certificates for tests and benchmarks: valid, expired, for another name, self-signed or signed by a given CA.
 */

import { generate } from 'selfsigned'

const dayMs = 24 * 3_600_000

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** Creates a certificate for an address or a name, signed by `ca` if given. */
export async function certify(about: {
  readonly for: string
  readonly ca?: Certificate
  /** Epoch milliseconds; tomorrow by default. */
  readonly endsAt?: number
  readonly isCa?: boolean
}): Promise<Certificate> {
  const isAddress = /^[\d.]+$/.test(about.for)
  const endsAt = about.endsAt ?? Date.now() + dayMs
  const created = await generate([{ name: 'commonName', value: about.for }], {
    algorithm: 'sha256',
    keyType: 'ec',
    curve: 'P-256',
    notBeforeDate: new Date(endsAt - 30 * dayMs),
    notAfterDate: new Date(endsAt),
    ...(about.ca && { ca: about.ca }),
    extensions: [
      { name: 'basicConstraints', cA: about.isCa ?? false },
      ...(about.isCa ? [{ name: 'keyUsage' as const, keyCertSign: true, cRLSign: true }] : []),
      { name: 'subjectAltName', altNames: [isAddress ? { type: 7, ip: about.for } : { type: 2, value: about.for }] },
    ],
  })
  return { key: created.private, cert: created.cert }
}

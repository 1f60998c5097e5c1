/**
 * Creates certificates for tests and benchmarks: valid, expired, for another name, self-signed or signed by a given CA.
 */

import { generate } from 'selfsigned'

const dayMs = 24 * 3_600_000

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** Creates a certificate for an IP address or a host name, signed by `ca` if given. */
export async function certify(options: {
  readonly name: string
  readonly ca?: Certificate
  /** Epoch milliseconds; tomorrow by default. */
  readonly expiresAt?: number
  readonly isCa?: boolean
}): Promise<Certificate> {
  const isAddress = /^[\d.]+$/.test(options.name)
  const expiresAt = options.expiresAt ?? Date.now() + dayMs
  const generated = await generate([{ name: 'commonName', value: options.name }], {
    algorithm: 'sha256',
    keyType: 'ec',
    curve: 'P-256',
    notBeforeDate: new Date(expiresAt - 30 * dayMs),
    notAfterDate: new Date(expiresAt),
    ...(options.ca && { ca: options.ca }),
    extensions: [
      { name: 'basicConstraints', cA: options.isCa ?? false },
      ...(options.isCa ? [{ name: 'keyUsage' as const, keyCertSign: true, cRLSign: true }] : []),
      {
        name: 'subjectAltName',
        altNames: [isAddress ? { type: 7, ip: options.name } : { type: 2, value: options.name }],
      },
    ],
  })
  return { key: generated.private, cert: generated.cert }
}

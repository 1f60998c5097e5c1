/** The self-signed TLS certificate. It prevents eavesdropping only if users compare its fingerprint. */

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, rename, rm } from 'node:fs/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { describeReadError } from '../platform/file-error.ts'
import { createFolder, createPrivateFile } from './folder.ts'

export interface OwnCertificate {
  /** Paths of PEM files. */
  readonly cert: string
  readonly key: string
  /** SHA-256, as browsers show it. */
  readonly fingerprint: string
  readonly isNew: boolean
}

/** Browsers reject a longer lifetime. */
const lifeMs = 397 * 24 * 3_600_000
const renewMs = 30 * 24 * 3_600_000

/** Creates a certificate for these host names and addresses if there is none or it is about to expire. */
export async function openCertificate(dataDir: string, names: readonly string[], now: number): Promise<OwnCertificate> {
  const cert = join(dataDir, 'tls.crt')
  const key = join(dataDir, 'tls.key')
  const stored = await readCertificate(cert, key)
  if (stored !== null && !isDueForRenewal(stored, now))
    return { cert, key, fingerprint: stored.fingerprint256, isNew: false }

  await createFolder(resolve(dataDir))
  const created = await createCertificate(names, now)
  await writePrivateFile(key, created.private)
  await writePrivateFile(cert, created.cert)
  return { cert, key, fingerprint: new X509Certificate(created.cert).fingerprint256, isNew: true }
}

export function isDueForRenewal({ validTo }: X509Certificate, now: number): boolean {
  return Date.parse(validTo) - renewMs <= now
}

export async function readMissingNames(dataDir: string, names: readonly string[]): Promise<readonly string[]> {
  return missingNames(new X509Certificate(await readFile(join(dataDir, 'tls.crt'))), names)
}

export function missingNames(certificate: X509Certificate, names: readonly string[]): readonly string[] {
  return names.filter(
    (name) => (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) === undefined,
  )
}

async function readCertificate(cert: string, key: string): Promise<X509Certificate | null> {
  const isMissing = (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  }
  const [text, secret] = await Promise.all([
    readFile(cert, 'utf8').catch(isMissing),
    readFile(key, 'utf8').catch(isMissing),
  ])
  if (text === null || secret === null) return null
  const certificate = new X509Certificate(text)
  return certificate.checkPrivateKey(createPrivateKey(secret)) ? certificate : null
}

async function createCertificate(names: readonly string[], now: number) {
  // Loaded on demand, because it is large and most installations do not need it.
  const { default: selfsigned } = await import('selfsigned')
  const localAddresses = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? [])
  const addresses = new Set(['127.0.0.1', '::1', ...localAddresses.filter((address) => !address.startsWith('fe80:'))])
  const hosts = new Set(['localhost'])
  for (const name of names) {
    if (/^[\d.]+$|:/.test(name)) addresses.add(name)
    else hosts.add(name)
  }
  const altNames = [
    ...[...hosts].map((value) => ({ type: 2 as const, value })),
    ...[...addresses].filter((ip) => ip !== '0.0.0.0' && ip !== '::').map((ip) => ({ type: 7 as const, ip })),
  ]
  return selfsigned.generate([{ name: 'commonName', value: 'Micwatch' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    // The certificate must also be valid on devices whose clock is slow.
    notBeforeDate: new Date(now - 24 * 3_600_000),
    notAfterDate: new Date(now + lifeMs),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames },
    ],
  })
}

async function writePrivateFile(path: string, content: string): Promise<void> {
  const draft = `${path}.new`
  await rm(draft, { force: true })
  const file = await createPrivateFile(draft)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}

export interface CertificatePair {
  readonly cert: string
  readonly key: string
}

/** Reads the files. Throws an error that names the file if they are not a certificate and its key. */
export async function readCertificatePair(files: CertificatePair): Promise<CertificatePair> {
  // In turn, so that the first problem is named if both have one.
  const cert = await readPem('tls.cert', files.cert)
  const key = await readPem('tls.key', files.key)
  const certificate = parse(() => new X509Certificate(cert), `tls.cert: ${files.cert} contains no PEM certificate`)
  const privateKey = parse(
    () => createPrivateKey(key),
    `tls.key: ${files.key} contains no PEM private key without a password`,
  )
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(`tls.key: ${files.key} is not the key of the certificate in ${files.cert}`)
  }
  parse(() => createSecureContext({ cert, key }), `tls.cert: ${files.cert} cannot be used for TLS`)
  return { cert, key }
}

function readPem(name: string, path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error) => {
    throw new Error(`${name}: ${(describeReadError(path, error) as Error).message}`, { cause: error })
  })
}

function parse<T>(read: () => T, problem: string): T {
  try {
    return read()
  } catch (error) {
    throw new Error(problem, { cause: error })
  }
}

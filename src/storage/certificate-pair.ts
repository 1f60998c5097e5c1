import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { describeReadError } from '../platform/file-error.ts'

export interface CertificatePair {
  readonly cert: string
  readonly key: string
}

/** Reads the files. Throws an error that names the file if they are not a certificate and its key. */
export async function readCertificatePair(files: CertificatePair): Promise<CertificatePair> {
  const [cert, key] = await Promise.all([readPem('tls.cert', files.cert), readPem('tls.key', files.key)])
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

/** A running service uses a replaced certificate, and renews its own. */

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { startApp, until } from './support/app.ts'
import { certify } from './support/certificates.ts'
import { createTestFolder } from './support/store/databases.ts'

async function servedCertificate(port: number): Promise<X509Certificate> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { raw } = socket.getPeerCertificate()
  socket.destroy()
  return new X509Certificate(raw)
}

// Conformance: C-17.8.
it('a service uses a certificate that was replaced', async () => {
  const folder = await createTestFolder()
  onTestFinished(folder.drop)
  const tls = { cert: join(folder.path, 'tls.crt'), key: join(folder.path, 'tls.key') }
  const store = async (name: string) => {
    const { cert, key } = await certify({ name })
    await writeFile(tls.key, key)
    await writeFile(tls.cert, cert)
  }
  await store('first.example')
  const app = await startApp({ config: { tls } })
  expect((await servedCertificate(app.port)).subject).toBe('CN=first.example')
  await store('second.example')
  await until(
    'the new certificate is used',
    async () => (await servedCertificate(app.port)).subject === 'CN=second.example',
  )
})

// Conformance: C-17.10.
it('a self-signed certificate that expires soon is renewed while the service runs', async () => {
  const app = await startApp({ config: { tls: 'auto' } })
  const files = { cert: join(app.dataDir, 'tls.crt'), key: join(app.dataDir, 'tls.key') }
  const days = async () => (Date.parse((await servedCertificate(app.port)).validTo) - Date.now()) / 86_400_000
  expect(await days()).toBeGreaterThan(300)
  const { cert, key } = await certify({ name: 'localhost', expiresAt: Date.now() + 10 * 86_400_000 })
  await writeFile(files.key, key)
  await writeFile(files.cert, cert)
  await until('the certificate that expires soon is used', async () => (await days()) < 11)
  await until('the certificate was renewed', async () => (await days()) > 300)
  const stored = new X509Certificate(await readFile(files.cert))
  expect(stored.fingerprint256).toBe((await servedCertificate(app.port)).fingerprint256)
})

/** The certificate of a running HTTPS server is replaced when its files change. */

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { type Certificate, certify } from '../../../test/support/certificates.ts'
import { createTestFolder } from '../../../test/support/store/databases.ts'
import { readCertificatePair } from '../../storage/certificate.ts'
import { CertificateReloader } from './certificate-reloader.ts'

async function startServer() {
  const folder = await createTestFolder()
  onTestFinished(folder.drop)
  const files = { cert: join(folder.path, 'tls.crt'), key: join(folder.path, 'tls.key') }
  const store = async ({ cert, key }: Partial<Certificate>) => {
    if (cert !== undefined) await writeFile(files.cert, cert)
    if (key !== undefined) await writeFile(files.key, key)
  }
  const first = await certify({ name: 'first.example' })
  await store(first)
  const current = await readCertificatePair(files)
  const server = createServer(current, (_request, response) => response.end('ok')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
  })
  const lines: object[] = []
  const log = { info: (line: object) => lines.push(line), warn: (line: object) => lines.push(line) }
  const reloader = new CertificateReloader({ server, files, current, renew: null, log: log as never })
  const open = async (): Promise<TLSSocket> => {
    const { port } = server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'secureConnect')
    return socket
  }
  return { first, store, reloader, lines, open }
}

const fingerprintOf = ({ cert }: Certificate) => new X509Certificate(cert).fingerprint256

// Conformance: C-17.8.
it('new connections use the new certificate, and open connections stay', async () => {
  const { first, store, reloader, lines, open } = await startServer()
  const before = await open()
  const second = await certify({ name: 'second.example' })
  await store(second)
  await reloader.check()
  await reloader.check()
  expect((await open()).getPeerCertificate().fingerprint256).toBe(fingerprintOf(second))
  expect(lines).toEqual([expect.objectContaining({ fingerprint: fingerprintOf(second) })])
  before.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const [response] = await once(before, 'data')
  expect([String(response).slice(0, 12), before.getPeerCertificate().fingerprint256]).toEqual([
    'HTTP/1.1 200',
    fingerprintOf(first),
  ])
})

// Conformance: C-17.9.
it('files that do not match are logged once, and the previous certificate stays until they do', async () => {
  const { first, store, reloader, lines, open } = await startServer()
  const [second, other] = await Promise.all([certify({ name: 'second.example' }), certify({ name: 'other.example' })])
  const table = [
    [{ cert: second.cert }, /^tls\.key: .*tls\.key is not the key of the certificate in .*tls\.crt$/],
    [{ cert: '' }, /^tls\.cert: .*tls\.crt contains no PEM certificate$/],
    [{ cert: first.cert, key: 'nonsense' }, /^tls\.key: .*tls\.key contains no PEM private key without a password$/],
  ] as const
  for (const [change, problem] of table) {
    lines.length = 0
    await store(change)
    await reloader.check()
    await reloader.check()
    expect(lines).toEqual([{ error: expect.stringMatching(problem) }])
    expect((await open()).getPeerCertificate().fingerprint256).toBe(fingerprintOf(first))
  }
  await store(other)
  await reloader.check()
  expect((await open()).getPeerCertificate().fingerprint256).toBe(fingerprintOf(other))
})

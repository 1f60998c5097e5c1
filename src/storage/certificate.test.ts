import { X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createTestFolder } from '../../test/support/store/databases.ts'
import { openCertificate } from './certificate.ts'

// Conformance: C-6.22.
it('creates a private certificate once, for its host names, and renews it before it expires', async () => {
  const folder = await createTestFolder()
  onTestFinished(folder.drop)
  const now = Date.now()
  const made = await openCertificate(folder.path, ['desk.local', '192.0.2.7', '0.0.0.0'], now)
  expect(made.isNew).toBe(true)
  for (const path of [made.key, made.cert]) expect((await stat(path)).mode & 0o777).toBe(0o600)
  const read = new X509Certificate(await readFile(made.cert))
  expect(read.checkHost('desk.local')).toBe('desk.local')
  expect(read.checkIP('192.0.2.7')).toBe('192.0.2.7')
  expect(read.fingerprint256).toBe(made.fingerprint)

  const again = await openCertificate(folder.path, [], now)
  expect(again).toEqual({ ...made, isNew: false })
  const later = await openCertificate(folder.path, [], now + 380 * 24 * 3_600_000)
  expect(later.isNew).toBe(true)
  expect(later.fingerprint).not.toBe(made.fingerprint)
})

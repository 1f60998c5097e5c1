/** A key file on a file system that has neither permissions nor links, such as exFAT. */

import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createTestFolder } from '../../test/support/store/databases.ts'
import { openSecrets } from './secrets.ts'

// Simulates the file system, because few machines that run the tests can mount one of this kind.
beforeEach(() => {
  const { stat } = fs
  const notPermitted = Object.assign(new Error('EPERM: operation not permitted'), { code: 'EPERM' })
  vi.spyOn(fs, 'link').mockRejectedValue(notPermitted)
  vi.spyOn(fs, 'stat').mockImplementation(async (path) => {
    const stats = await stat(path)
    return Object.assign(stats, { mode: (Number(stats.mode) & fs.constants.S_IFMT) | 0o666 })
  })
  syncBuiltinESMExports()
})
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

// Reliability: 3.8.2.
test('openSecrets creates and reads the key with a warning', async () => {
  const { path: dir, drop } = await createTestFolder()
  onTestFinished(drop)
  const secrets = await openSecrets(dir)
  expect(secrets.warning).toContain(`${join(dir, 'secret.key')} does not support permissions`)
  const again = await openSecrets(dir)
  expect(again.open(secrets.seal('text', 'shure'), 'shure')).toBe('text')
  expect(again.warning).toBe(secrets.warning)
  expect(await fs.readdir(dir)).toEqual(['secret.key'])
})

test('openSecrets uses a key from the configuration without a warning', async () => {
  const { path: dir, drop } = await createTestFolder()
  onTestFinished(drop)
  expect((await openSecrets(dir, 'ab'.repeat(32))).warning).toBeNull()
})

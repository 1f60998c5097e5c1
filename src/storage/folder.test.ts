import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findExposure, toExposure } from './folder.ts'

// Reliability: 3.8.2.
test.each([
  ['0600 where modes are kept', 0o100600, 0o100600, 'private'],
  ['0400 where modes are kept', 0o100400, 0o100600, 'private'],
  ['0640 where modes are kept', 0o100640, 0o100600, 'exposed'],
  ['0604 where modes are kept', 0o100604, 0o100600, 'exposed'],
  ['0666 where every file has 0666 (Windows)', 0o100666, 0o100666, 'unknown'],
  ['0755 where every file has 0755 (exFAT, SMB)', 0o100755, 0o100755, 'unknown'],
  ['0700 where every file has 0700 (exFAT mounted for one user)', 0o100700, 0o100700, 'private'],
] as const)('toExposure classifies mode %s', (_, mode, probeMode, exposure) => {
  expect(toExposure(mode, probeMode)).toBe(exposure)
})

test('findExposure uses the file mode on a file system with permissions, and leaves no probe file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'micwatch-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'secret.key')
  await writeFile(path, '')
  for (const [mode, exposure] of [
    [0o600, 'private'],
    [0o640, 'exposed'],
    [0o666, 'exposed'],
  ] as const) {
    await chmod(path, mode)
    expect([mode, await findExposure(path)]).toEqual([mode, exposure])
  }
  expect(await readdir(folder)).toEqual(['secret.key'])
})

/** Files that root creates in the folder of the service's user must be readable and writable by that user. */

import { spawnSync } from 'node:child_process'
import { chmod, chown, lstat, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createInstallation } from './support/app.ts'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const user = 54_321
const isRoot = process.getuid?.() === 0
const createAdminArgs = ['create_admin', '--username', 'ana', '--password-stdin']
const password = 'correct horse battery\n'

async function readOwners(folder: string): Promise<Record<string, number>> {
  const entries = await readdir(folder, { recursive: true })
  const owners = entries.map(async (name) => [name, (await lstat(join(folder, name))).uid] as const)
  return Object.fromEntries(await Promise.all(owners))
}

/** Creates a data folder that belongs to another user, in a working directory that this user may enter. */
async function createOwnedInstallation() {
  const installation = await createInstallation({ tls: 'auto' })
  const data = join(installation.path, 'data')
  await mkdir(data, 0o700)
  await chown(data, user, user)
  await chmod(installation.path, 0o755)
  const expectOwned = async (...names: readonly string[]) => {
    const owners = await readOwners(data)
    expect(Object.keys(owners)).toEqual(expect.arrayContaining([...names]))
    expect(Object.entries(owners).filter(([, uid]) => uid !== user)).toEqual([])
  }
  const runAsUser = (args: readonly string[]) =>
    spawnSync(process.execPath, [program, ...args], { cwd: installation.path, encoding: 'utf8', uid: user, gid: user })
  return { ...installation, data, expectOwned, runAsUser }
}

// Reliability: 3.8.5.
describe.runIf(isRoot)('as root in the data folder of another user', () => {
  it('every command creates files that belong to the owner of the folder', async () => {
    const installation = await createOwnedInstallation()
    await installation.write('installation.yaml', 'version: 1\ngroups: [{title: Choir}]\n')
    expect((await installation.run(['import', 'installation.yaml'])).code).toBe(0)
    await installation.expectOwned('micwatch.db', 'micwatch.db-lock', 'secret.key')
    expect((await installation.run(createAdminArgs, {}, password)).code).toBe(0)
    expect((await installation.run(['backup', 'backup.db'])).code).toBe(0)
    expect((await installation.run(['export', '--output', join('data', 'secrets.yaml'), '--with-secrets'])).code).toBe(
      0,
    )
    // A file whose path the operator gave belongs to root, and the owner of the folder cannot read it.
    const { uid, mode } = await lstat(join(installation.data, 'secrets.yaml'))
    expect([uid, mode & 0o777]).toEqual([0, 0o600])
    await chown(join(installation.data, 'secrets.yaml'), user, user)
    const restored = await installation.run(['restore', 'backup.db', '--force', '--json'])
    expect(restored.code).toBe(0)
    await installation.expectOwned('micwatch.db', restored.json().safety_copy.replace(/^data./, ''))
    expect(installation.runAsUser(['migrate', '--json'])).toMatchObject({ status: 0, stderr: '' })
  })

  it('a service creates files that belong to the owner of the folder, who can then run the service on them', async () => {
    const installation = await createOwnedInstallation()
    const service = await installation.serve(['--host', '0.0.0.0'])
    await installation.expectOwned(
      'micwatch.db',
      'micwatch.db-wal',
      'micwatch.db-shm',
      'secret.key',
      'setup-code',
      'tls.key',
    )
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    await installation.expectOwned('snapshots')
    expect(installation.runAsUser(['export', '--json'])).toMatchObject({ status: 0, stderr: '' })
  })

  it('a new data folder belongs to the owner of its parent folder', async () => {
    const installation = await createOwnedInstallation()
    expect((await installation.run(['migrate', '--data-dir', 'data/inner/most'])).code).toBe(0)
    await installation.expectOwned('inner', 'inner/most', 'inner/most/micwatch.db')
    expect((await installation.run(['migrate', '--data-dir', 'own'])).code).toBe(0)
    expect((await lstat(join(installation.path, 'own'))).uid).toBe(0)
  })
})

/** Levels that an earlier version recorded: this version serves them as that one did. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { createInstallation, startApp } from './support/app.ts'

// When they had just been recorded; later, the service would remove them.
vi.hoisted(() => vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-29T20:46:00Z') }))

const folder = fileURLToPath(new URL('fixtures/1.0.0-levels/', import.meta.url))
const unpack = async (name: string) => gunzipSync(await readFile(join(folder, `${name}.gz`)))

it('serves what 1.0.0 recorded', async () => {
  const { path, databaseUrl } = await createInstallation()
  const dataDir = join(path, 'data')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writeFile(join(dataDir, 'secret.key'), await readFile(join(folder, 'secret-sqlite.key')), { mode: 0o600 })
  for (const name of ['micwatch.db', 'history.db']) await writeFile(join(dataDir, name), await unpack(name))
  const app = await startApp({ databaseUrl, dataDir, servesOnly: true })
  const served: Readonly<Record<string, unknown>> = JSON.parse((await unpack('served-levels.json')).toString())
  expect(Object.keys(served)).toHaveLength(2)
  for (const [address, response] of Object.entries(served)) {
    const { status, json } = await app.get(address)
    expect([address, status, json.channels?.length]).toEqual([address, 200, 3])
    expect(json, address).toMatchObject(response as object)
  }
})

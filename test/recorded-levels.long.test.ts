/** Levels that earlier versions recorded: this version serves them as those did. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { createInstallation, startApp } from './support/app.ts'

// Soon after they were recorded; later, the service would remove them.
vi.hoisted(() => vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-12-01T01:02:00Z') }))

// Conformance: C-26.60.
it.each(['1.0.0-levels', '1.1.0', '1.1.0-levels'])('serves the levels of fixtures/%s', async (name) => {
  const folder = fileURLToPath(new URL(`fixtures/${name}/`, import.meta.url))
  const unpack = async (file: string) => gunzipSync(await readFile(join(folder, `${file}.gz`)))
  const { path, databaseUrl } = await createInstallation()
  const dataDir = join(path, 'data')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writeFile(join(dataDir, 'secret.key'), await readFile(join(folder, 'secret-sqlite.key')), { mode: 0o600 })
  for (const file of ['micwatch.db', 'history.db']) await writeFile(join(dataDir, file), await unpack(file))
  const app = await startApp({ databaseUrl, dataDir, servesOnly: true })
  const served: Readonly<Record<string, unknown>> = JSON.parse((await unpack('served-levels.json')).toString())
  expect(Object.keys(served).length).toBeGreaterThan(1)
  for (const [address, response] of Object.entries(served)) {
    const { status, json } = await app.get(address)
    expect([address, status, json.channels?.length]).toEqual([address, 200, 3])
    expect(json, address).toMatchObject(response as object)
  }
})

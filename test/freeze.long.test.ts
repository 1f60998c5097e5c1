/** scripts/release/freeze writes the files that later versions open: see docs/releasing.md. */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { createInstallation, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Records levels of simulated receivers, and stops. */
async function recordLevels(program: string, data: string): Promise<void> {
  const service = spawn(program, ['serve', '--demo', '--receivers', '2', '--port', '0', '--data-dir', data], {
    stdio: 'ignore',
  })
  const ended = once(service, 'exit')
  onTestEnd(async () => {
    service.kill('SIGKILL')
    await ended
  })
  // The database itself is opened only after the service has ended.
  const log = join(data, 'history.db-wal')
  await until('levels are recorded', () => existsSync(log) && statSync(log).size > 200_000, 60_000)
  service.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
}

function countSlices(folder: string): number {
  const database = new DatabaseSync(join(folder, 'history.db'), { readOnly: true })
  try {
    return Number(database.prepare('select count(*) as count from slices').get()?.count)
  } finally {
    database.close()
  }
}

// Conformance: C-26.31.
it('what a release has stored is frozen with its own commands, and is never overwritten', async () => {
  const { path, run } = await createInstallation()
  const [data, out, program] = ['recorded', 'out', 'micwatch'].map((name) => join(path, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'dist/main.js')}' "$@"\n`)
  chmodSync(program, 0o755)
  const freeze = () => spawnSync(join(root, 'scripts/release/freeze'), [program, data, out], { encoding: 'utf8' })
  expect(freeze()).toMatchObject({ status: 1, stderr: `freeze: ${data} has no micwatch.db\n` })
  await recordLevels(program, data)
  expect(countSlices(data)).toBeGreaterThan(0)
  expect(freeze()).toMatchObject({ status: 0, stderr: expect.stringContaining('Wrote micwatch.backup') })
  const databases = ['history.db.gz', 'micwatch.backup.gz', 'micwatch.db.gz']
  const others = ['export-sqlite.yaml', 'imported.json', 'secret-sqlite.key']
  expect(readdirSync(out).sort()).toEqual([...databases, ...others].sort())
  expect(freeze()).toMatchObject({ status: 1, stderr: `freeze: ${out} exists, and is never changed\n` })

  writeFileSync(join(path, 'frozen.backup'), gunzipSync(readFileSync(join(out, 'micwatch.backup.gz'))))
  mkdirSync(join(path, 'data'), { mode: 0o700 })
  cpSync(join(out, 'secret-sqlite.key'), join(path, 'data/secret.key'))
  const restored = await run(['restore', 'frozen.backup', '--json'])
  expect([restored.code, restored.err]).toEqual([0, ''])
  expect(countSlices(join(path, 'data'))).toBeGreaterThan(0)
})

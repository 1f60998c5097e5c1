/** The package that `companion-module-build` writes. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { InstanceStatus } from '@companion-module/base'
import { type ModuleManifest, validateManifest } from '@companion-module/base/manifest'

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const readJson = (name: string) => JSON.parse(readFileSync(path(name), 'utf8'))

// Conformance: C-16.110.
it('has a valid manifest for Companion 4.3 and later, with its entry point and help', () => {
  const manifest: ModuleManifest = readJson('pkg/micwatch/companion/manifest.json')
  validateManifest(manifest, false)
  const { id, type, version, runtime, products } = manifest
  assert.deepEqual(
    { id, type, version, runtime, products },
    {
      id: 'micwatch',
      type: 'connection',
      version: readJson('package.json').version,
      runtime: { type: 'node22', api: 'nodejs-ipc', apiVersion: '2.0.4', entrypoint: '../main.js' },
      products: ['Micwatch'],
    },
  )
  for (const file of ['main.js', 'companion/HELP.md']) assert.ok(existsSync(path(`pkg/micwatch/${file}`)), file)
  assert.ok(existsSync(path(`micwatch-${version}.tgz`)))
})

// Conformance: C-16.110.
it('runs with the permissions that Companion gives to modules', async () => {
  // As Companion starts modules; the folders of the test host are added.
  const readable = ['pkg/micwatch', 'test', 'node_modules', 'package.json'].map(
    (name) => `--allow-fs-read=${path(name)}`,
  )
  const options = ['--no-warnings', '--permission', ...readable]
  const { stdout } = await promisify(execFile)(process.execPath, [...options, path('test/host-process.ts')])
  const [last] = stdout.trim().split('\n').slice(-1)
  assert.deepEqual(JSON.parse(last ?? ''), {
    status: InstanceStatus.ConnectionFailure,
    message: 'Connection refused by 127.0.0.1:9. Check that Micwatch is running and that the address is correct.',
  })
})

/** The entry file of the built program checks the Node.js version before anything else is loaded. */

import { spawnSync } from 'node:child_process'
import { copyFile, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestFolder } from './support/store/databases.ts'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** Runs `file` in this Node.js, with `process.versions.node` set to `version`. */
function runAs(version: string, file: string, args: readonly string[]) {
  const assignment = `process.versions = { ...process.versions, node: '${version}' }`
  const script = `Object.defineProperty(process, 'versions', { writable: true }); ${assignment}`
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(script)}`, file, ...args],
    { encoding: 'utf8' },
  )
  return { code: status, out: stdout, err: stderr }
}

async function copyEntryFile() {
  const { path, drop } = await createTestFolder()
  onTestFinished(drop)
  const copy = join(path, 'main.js')
  await copyFile(program, copy)
  return copy
}

// Conformance: C-9.29.
describe('an unsupported version of Node.js', () => {
  it.each(['serve', 'backup file', '--version'])('makes %s exit with code 1 and one line', (args) => {
    expect(runAs('18.20.8', program, args.split(' '))).toEqual({
      code: 1,
      out: '',
      err: 'micwatch: Node.js 18.20.8 is not supported. Install 20.x from 20.20.2, or 22.x from 22.22.2, or 24.14.1 or later.\n',
    })
  })

  // Conformance: C-17.79.
  it('is rejected by every command', () => {
    const { out } = runAs(process.versions.node, program, ['--help'])
    const [, list = ''] = out.split('Commands:')
    const commands = [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name)
    expect(commands).toEqual(expect.arrayContaining(['serve', 'doctor', 'restore', 'migrate']))
    for (const name of commands) {
      const { code, out: printed, err } = runAs('18.20.8', program, [name])
      expect([name, code, printed, err]).toEqual([name, 1, '', expect.stringMatching(/^micwatch: Node\.js 18.*\n$/)])
    }
  })

  it('is rejected before any other file is loaded', async () => {
    const copy = await copyEntryFile()
    for (const version of ['4.9.1', '20.20.1', '21.99.0', '22.22.1', '24.14.0']) {
      const { code, err } = runAs(version, copy, ['serve'])
      expect([version, code, err]).toEqual([version, 1, expect.stringContaining(`Node.js ${version} is not supported`)])
    }
  })
})

// Conformance: C-9.29.
it('the program is loaded on every supported version of Node.js', async () => {
  const copy = await copyEntryFile()
  for (const version of ['20.20.2', '22.23.0', '24.14.1', '26.0.0']) {
    const { code, err } = runAs(version, copy, ['serve'])
    expect([version, code, err]).toEqual([version, 1, expect.stringContaining('program.js')])
  }
  expect(runAs(process.versions.node, program, ['--version'])).toMatchObject({ code: 0, err: '' })
})

/** Returns a file of the built program and all files that it always loads. */
async function loadedFiles(name: string, found = new Map<string, string>()): Promise<ReadonlyMap<string, string>> {
  if (found.has(name)) return found
  const source = await readFile(join(program, '..', name), 'utf8')
  found.set(name, source)
  for (const [, next = ''] of source.matchAll(/(?:from|import) ?"\.\/([^"]+)"/g)) await loadedFiles(next, found)
  return found
}

it('a command other than serve and simulate does not load the server and the simulators', async () => {
  const sources = [...(await loadedFiles('program.js')).values()].join('\n')
  expect(sources).toContain('check_connections')
  expect(sources).not.toContain('"node_modules/fastify/fastify.js"')
  expect(sources).not.toContain('startStringsSimulator')
})

it('the library for HTTP requests is not loaded before the first one', async () => {
  const files = await readdir(join(program, '..'))
  const server = files.find((name) => /^app-\w+\.js$/.test(name)) ?? ''
  const sources = [...(await loadedFiles('program.js')).values(), ...(await loadedFiles(server)).values()].join('\n')
  expect(sources).toContain('"node_modules/fastify/fastify.js"')
  expect(sources).not.toContain('"node_modules/undici/index.js"')
})

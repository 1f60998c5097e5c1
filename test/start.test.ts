/** The entry file of the built program checks the Node.js version before anything else is loaded. */

import { spawnSync } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { usesCodeCache } from './code-cache.ts'
import { createTestFolder } from './databases.ts'

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

/** What Node.js writes with `NODE_V8_COVERAGE`. */
interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly functionName: string; readonly ranges: readonly Range[] }[]
  }[]
}

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
    expect([version, code, err]).toEqual([version, 1, expect.stringContaining('start.js')])
  }
  expect(runAs(process.versions.node, program, ['--version'])).toMatchObject({ code: 0, err: '' })
})

describe('the code cache', () => {
  const dist = fileURLToPath(new URL('../dist/', import.meta.url))
  const cacheName = `code-cache-${process.versions.v8}-${process.platform}-${process.arch}.bin`

  /** Copies the program, with `cache` as its code cache if it is given. Returns the new `main.js`. */
  async function copyProgram(cache?: Buffer) {
    const { path, drop } = await createTestFolder()
    onTestFinished(drop)
    await mkdir(join(path, 'dist'))
    for (const name of ['main.js', 'start.js', 'program.cjs'])
      await copyFile(join(dist, name), join(path, 'dist', name))
    await copyFile(join(dist, '../package.json'), join(path, 'package.json'))
    await symlink(join(dist, '../node_modules'), join(path, 'node_modules'))
    if (cache !== undefined) await writeFile(join(path, 'dist', cacheName), cache)
    return join(path, 'dist/main.js')
  }

  /** Returns whether this program uses its code cache, and whether it runs. */
  function start(main: string, flags: readonly string[] = []) {
    const isCached = usesCodeCache(join(main, '..'), { flags })
    return { isCached, runs: spawnSync(process.execPath, [...flags, main, '--version']).status === 0 }
  }

  it('is used', async () => {
    expect(start(program)).toEqual({ isCached: true, runs: true })
    const copy = await copyProgram(await readFile(join(dist, cacheName)))
    expect(start(copy)).toEqual({ isCached: true, runs: true })
  })

  it('is not used with other flags of V8', () => {
    expect(start(program, ['--max-semi-space-size=4'])).toEqual({ isCached: false, runs: true })
  })

  it('is not used if it is missing, damaged or of another program', async () => {
    const cache = await readFile(join(dist, cacheName))
    const changed = Buffer.from(cache)
    changed[cache.length >> 1] = ~(cache[cache.length >> 1] ?? 0)
    for (const unusable of [undefined, Buffer.alloc(0), cache.subarray(0, cache.length >> 1), changed]) {
      expect(start(await copyProgram(unusable))).toEqual({ isCached: false, runs: true })
    }
    const copy = await copyProgram(cache)
    const changedProgram = (await readFile(join(dist, 'program.cjs'), 'latin1')).replace('Monitors', 'monitors')
    await writeFile(join(copy, '../program.cjs'), changedProgram)
    expect(start(copy)).toEqual({ isCached: false, runs: true })
  })
})

it('a command other than serve and simulate does not run the modules of the server and the simulators', async () => {
  const { path, drop } = await createTestFolder()
  onTestFinished(drop)
  spawnSync(process.execPath, [program, 'check_connections', '--help'], {
    env: { ...process.env, NODE_V8_COVERAGE: path },
  })
  const [name = ''] = await readdir(path)
  const coverage = JSON.parse(await readFile(join(path, name), 'utf8')) as Coverage
  const functions = coverage.result.find(({ url }) => url === 'micwatch/program.cjs')?.functions ?? []
  const source = await readFile(join(program, '../program.cjs'), 'latin1')
  /** Whether the module with this text ran: the smallest function that contains it was called. */
  const hasRun = (text: string) => {
    const position = source.indexOf(text)
    expect(position, text).toBeGreaterThan(0)
    const around = functions
      .flatMap(({ ranges }) => ranges.slice(0, 1))
      .filter(({ startOffset, endOffset }) => startOffset <= position && position < endOffset)
      .sort((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset))
    return (around[0]?.count ?? 0) > 0
  }
  expect(hasRun('check_connections')).toBe(true)
  expect(hasRun('"node_modules/fastify/fastify.js"(')).toBe(false)
  expect(hasRun('"simulators/demo.ts"(')).toBe(false)
})

it('the library for HTTP requests is not loaded before the first one', async () => {
  const names = ['program.cjs', 'undici.cjs']
  const sources = await Promise.all(names.map((name) => readFile(join(program, '..', name), 'utf8')))
  expect(sources.map((source) => source.includes('"node_modules/undici/lib/dispatcher/client.js"'))).toEqual([
    false,
    true,
  ])
})

it('the background threads of V8 have a lower priority than the main thread', async () => {
  const copy = await copyEntryFile()
  // Takes the place of the program: prints the priority of each thread.
  const script = `
    import { readdirSync } from 'node:fs'
    import { getPriority } from 'node:os'
    export function start() {
      const threads = readdirSync('/proc/self/task').map(Number)
      console.log(JSON.stringify(threads.map((id) => [id === process.pid, getPriority(id)])))
    }`
  await writeFile(join(copy, '..', 'start.js'), script)
  await writeFile(join(copy, '..', 'package.json'), '{ "type": "module" }')
  const own = getPriority()
  const threads = JSON.parse(runAs(process.versions.node, copy, []).out) as [boolean, number][]
  expect(threads.filter(([isMain]) => isMain)).toEqual([[true, own]])
  expect(threads.filter(([, priority]) => priority === own + 10).length).toBeGreaterThanOrEqual(4)
})

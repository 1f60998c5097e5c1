/** Runs the commands in the documents as they are written, against the demo. */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import { client, until } from './support/app.ts'
import { installDebianPackage } from './support/debian-package.ts'
import { createTestFolder } from './support/store/databases.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const program = join(root, 'dist/main.js')

beforeAll(async () => {
  for (const name of ['curl', 'jq']) await installDebianPackage(name)
})

/** Returns the shell commands of a document, in their order. */
function commandsOf(document: string): string {
  const text = readFileSync(join(root, 'docs', document), 'utf8')
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code]) => code).join('\n')
}

/** Creates a folder with programs that are found first. `curl` reports every response that is an error. */
async function createWorkFolder() {
  const { path, drop } = await createTestFolder()
  onTestFinished(drop)
  const tools = join(path, 'tools')
  mkdirSync(tools)
  const write = (name: string, script: string) => {
    writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(tools, name), 0o755)
  }
  write('micwatch', `exec '${process.execPath}' '${program}' "$@"`)
  // The commands are faster than the limit of requests allows. An attempt that is repeated must not print its response.
  write(
    'curl',
    `'/usr/bin/curl' --silent --retry 20 --fail "$@" || { echo "failed: $*" >> '${join(path, 'failed')}'; exit 1; }`,
  )
  const failed = () => (existsSync(join(path, 'failed')) ? readFileSync(join(path, 'failed'), 'utf8') : '')
  const run = (script: string, options: readonly string[] = []) =>
    spawnSync('bash', [...options, '-c', script], {
      cwd: path,
      env: { ...process.env, PATH: `${tools}:${process.env.PATH}`, MICWATCH_DATA_DIR: join(path, 'data') },
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    })
  return { path, run, failed }
}

async function serve(folder: string, ...args: readonly string[]) {
  const port = await freePort()
  const child = spawn(process.execPath, [program, 'serve', '--port', String(port), ...args], {
    cwd: folder,
    stdio: 'ignore',
    env: { ...process.env, MICWATCH_DATA_DIR: join(folder, 'data') },
  })
  const ended = once(child, 'close')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  onTestFinished(stop)
  const address = `http://127.0.0.1:${port}`
  const service = client(`${address}/`)
  await until('the service responds', async () => (await service.get('/healthz')).status === 200, 60_000)
  return { address, service, stop }
}

// Conformance: C-17.95.
it('interface.md runs from top to bottom against the demo', async () => {
  const { path, run, failed } = await createWorkFolder()
  const { address, service } = await serve(path, '--demo')
  // More frequent requests would exceed the limit.
  for (const list of ['/api/movements/unacknowledged/', '/api/discovery/pending/']) {
    const hasEntry = async () => {
      await pause(1000)
      return (await service.get(list)).json.count > 0
    }
    await until(`${list} has an entry`, hasEntry, 240_000)
  }
  const commands = commandsOf('interface.md')
  expect(commands).toContain('URL=http://127.0.0.1:8080\n')
  const { status, stderr } = run(commands.replace('URL=http://127.0.0.1:8080\n', `URL=${address}\n`))
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  // They need an account at Planning Center, a provider for single sign-on, a receiver with lights, at an address or that
  // scans, a backup folder, or listening. Others need the code that an authenticator app shows, the id of a session, or the
  // link of a message.
  const isExpected = (line: string) =>
    /planning-center|oidc|identify|captures|\/scan\/$|audio\/(listeners|clips)|-X POST \S+backups|totp\/confirm|sessions\/0123|acknowledge-link|^$/.test(
      line,
    )
  expect(
    failed()
      .split('\n')
      .filter((line) => !isExpected(line)),
  ).toEqual([])
})

// Conformance: C-17.96.
it('backup.md, history.md and troubleshooting.md run as written', async () => {
  const { path, run } = await createWorkFolder()
  const { service, stop } = await serve(path)
  const channels = Array.from({ length: 34 }, (_, index) => ({ channel: index + 1, rf_level: -60 }))
  const receivers = [{ api_device_id: 'rack-1', channels }]
  expect((await service.post('/api/ingest/', { source: 'test', receivers })).status).toBe(202)
  const media = join(path, 'usb')
  mkdirSync(media)
  const documented = ['backup.md', 'history.md', 'troubleshooting.md'].map(commandsOf).join('\n')
  const commands = documented.replaceAll('/media/usb/', `${media}/`)
  const lines = commands.split('\n').filter((line) => line.startsWith('micwatch '))
  expect(lines.length).toBeGreaterThan(10)
  // `restore` refuses to replace the database of a running service.
  const isRestore = (line: string) => line.startsWith('micwatch restore')
  const results = new Map<string, string>()
  const runLine = (line: string) => {
    const { status, stderr } = run(line)
    results.set(line, `${status} ${stderr}`)
  }
  for (const line of lines.filter((candidate) => !isRestore(candidate))) runLine(line)
  await stop()
  for (const line of lines.filter(isRestore)) runLine(line)
  expect([...results].filter(([, result]) => !result.startsWith('0 '))).toEqual([])
})

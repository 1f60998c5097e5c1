/** Runs the programs of docs/examples.md, as they are in the document, against the service. */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import { until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { findProgram } from './support/debian-package.ts'
import { readExample, startWithToken } from './support/examples.ts'
import { openOscClient } from './support/osc-client.ts'

/** Runs a program and returns what it prints. Throws if it fails. */
async function run(program: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const { stdout } = await promisify(execFile)(program, [...args], { env: { ...process.env, ...env } })
  return stdout
}

// Conformance: C-16.120.
it('curl prints the channels that need attention', async () => {
  await findProgram('curl', 'curl')
  await findProgram('jq', 'jq')
  const { env, set, stateOf } = await startWithToken('viewer')
  const script = readExample('curl: what needs attention', 'sh')
  expect(await run('sh', ['-c', script], env)).toBe('')
  set({ battery: 4 })
  await until('the battery is critical', () => stateOf(1) === 'battery_critical')
  expect(await run('sh', ['-c', script], env)).toBe('1 Zoë battery_critical\n')
})

// Conformance: C-16.120.
it('curl adds a marker', async () => {
  await findProgram('curl', 'curl')
  const { env, app, headers } = await startWithToken('operator')
  await run('sh', ['-c', readExample('curl: a marker on the timeline', 'sh')], env)
  const { json } = await app.get('/api/events/?kind=marker', headers)
  expect(json.results).toMatchObject([{ kind: 'marker', text: 'Act two' }])
})

// Conformance: C-16.120.
it('Python prints the batteries, the emptiest first', async () => {
  const python = await findProgram('python3', 'python3')
  const { env, set, stateOf } = await startWithToken('viewer')
  set({ name: 'Ada', battery: 7 }, 2)
  await until('both transmitters are received', () => stateOf(2) === 'battery_critical')
  const printed = await run(python, ['-c', readExample('Python: batteries, the emptiest first', 'python')], env)
  expect(printed).toBe('  7%  slot 2  Ada\n 61%  slot 1  Zoë\n')
})

// Conformance: C-16.120.
it('Node.js prints alerts as they happen', async () => {
  const { env, set } = await startWithToken('viewer')
  const folder = await mkdtemp(join(tmpdir(), 'micwatch-example-'))
  onTestEnd(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'alerts.mjs'), readExample('Node.js: alerts as they happen', 'js'))
  await symlink(fileURLToPath(new URL('../node_modules', import.meta.url)), join(folder, 'node_modules'))
  const client = spawn(process.execPath, ['alerts.mjs'], { cwd: folder, env: { ...process.env, ...env } })
  onTestEnd(async () => {
    client.kill()
    if (client.exitCode === null && client.signalCode === null) await once(client, 'exit')
  })
  let printed = ''
  client.stdout.on('data', (bytes) => (printed += bytes))
  await until('the snapshot is received', () => printed.startsWith('0 open alerts\n'))
  set({ battery: 4 })
  await until('the alert is printed', () => /^critical raised .*Zoë/m.test(printed))
  set({ battery: 90 })
  await until('its end is printed', () => /^critical cleared .*Zoë/m.test(printed))
})

// Conformance: C-16.120.
it('the message of a QLab cue adds a marker', async () => {
  const port = await freePort()
  const { app, headers } = await startWithToken('viewer', { osc: { listen: `127.0.0.1:${port}` } })
  // QLab sends the words of the text as the address and the arguments of one OSC message.
  const [, address = '', text = ''] =
    /^(\/\S+) "(.*)"\n?$/.exec(readExample('QLab: a marker at every cue', 'osc')) ?? []
  const qlab = await openOscClient('127.0.0.1')
  qlab.send(port, { address, args: [text] })
  const marker = await until(
    'the marker is stored',
    async () => (await app.get('/api/events/?kind=marker', headers)).json.results[0],
  )
  expect(marker).toMatchObject({ kind: 'marker', text: 'Cue 12' })
})

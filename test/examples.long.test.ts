/** Runs the flow of docs/examples.md in a real Node-RED, which is installed from the registry. */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import { until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { readExample, startWithToken } from './support/examples.ts'

const version = '4.1.15'

interface FlowNode {
  readonly type: string
}

// Conformance: C-16.121.
test('the flow counts in Node-RED how many channels need attention', async () => {
  const { env, set, stateOf } = await startWithToken('viewer')
  const folder = await mkdtemp(join(tmpdir(), 'micwatch-node-red-'))
  onTestEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const options = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await promisify(execFile)('npm', ['install', ...options, `node-red@${version}`])

  const nodes = JSON.parse(readExample('Node-RED: how many channels need attention', 'json')) as FlowNode[]
  const headers = [
    { keyType: 'other', keyValue: 'Authorization', valueType: 'other', valueValue: `Bearer ${env.MICWATCH_TOKEN}` },
  ]
  /** The user's input, a shorter interval, and the log in place of the debug panel. */
  const entered: Readonly<Record<string, object>> = {
    'http request': { url: `${env.MICWATCH_URL}/api/data.json`, headers },
    inject: { repeat: '1' },
    debug: { console: true, tosidebar: false },
  }
  const flow = join(folder, 'flow.json')
  await writeFile(flow, JSON.stringify(nodes.map((node) => ({ ...node, ...entered[node.type] }))))
  const program = join(folder, 'node_modules/node-red/red.js')
  const settings = ['-D', 'uiHost=127.0.0.1', '-D', 'telemetry.enabled=false']
  const port = String(await freePort())
  const nodeRed = spawn(process.execPath, [program, '-u', folder, '-p', port, ...settings, flow])
  onTestEnd(async () => {
    nodeRed.kill()
    if (nodeRed.exitCode === null && nodeRed.signalCode === null) await once(nodeRed, 'exit')
  })
  let log = ''
  for (const stream of [nodeRed.stdout, nodeRed.stderr]) stream.on('data', (bytes) => (log += bytes))
  const counts = () => [...log.matchAll(/\[debug:[^\]]*\] *\n?(\d+)$/gm)].map(([, count]) => Number(count))
  await until('the flow has counted', () => counts().at(-1) === 0, 120_000)
  set({ battery: 4 })
  await until('the battery is critical', () => stateOf(1) === 'battery_critical')
  await until('the flow counts the channel', () => counts().at(-1) === 1)
  expect(log).not.toMatch(/\[error\]/)
})

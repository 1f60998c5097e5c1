/**
 * Runs the demo of the built program for a few seconds, and then writes the code cache, which contains every function
 * that has run. Argument: the URL of the folder of the program.
 */

import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { codeCacheFile, compileProgram } from '../src/start.ts'

/** What a browser requests first, and what other programs request again and again. */
const paths = ['/', '/api/data.json', '/api/summary/', '/api/health/', '/api/alerts/', '/api/events/', '/metrics']
/** After this time, nearly every function that a service needs has run. */
const runningMs = 2_500

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const folder = new URL(process.argv[2] ?? '')
const port = await findFreePort()
const { run, createCodeCache } = compileProgram(folder)
// Otherwise V8 discards the bytecode of functions that have not run for a while, such as those of the start.
setFlagsFromString('--no-flush-bytecode')
process.once('exit', () => {
  // V8 accepts a cache only with the flags with which it was created.
  setFlagsFromString('--flush-bytecode')
  writeFileSync(codeCacheFile(folder), createCodeCache())
})
process.argv = [process.execPath, 'micwatch', 'serve', '--demo', '--host', '127.0.0.1', '--port', String(port)]
run()

for (const startedAt = performance.now(); performance.now() - startedAt < runningMs; await sleep(250)) {
  const responses = paths.map((path) => fetch(`http://127.0.0.1:${port}${path}`).catch(() => null))
  for (const response of await Promise.all(responses)) await response?.arrayBuffer()
}
process.emit('SIGTERM')

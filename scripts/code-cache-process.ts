/**
 * Runs the demo of the built program for a few seconds, and then writes the code cache, which contains every function
 * that has run. Arguments: the URLs of the folders of the program and of the cache.
 */

import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { codeCacheFile, compileProgram } from '../src/start.ts'
import { freePort } from './free-port.ts'

/** What a browser requests first, and what other programs request again and again. */
const paths = ['/', '/api/data.json', '/api/summary/', '/api/health/', '/api/alerts/', '/api/events/', '/metrics']
/** This long after the first response, nearly every function that a service needs has run. */
const runningMs = 2_000
const requestLimitMs = 10_000

async function requestAll(): Promise<void> {
  const signal = AbortSignal.timeout(requestLimitMs)
  for (const path of paths) await (await fetch(`http://127.0.0.1:${port}${path}`, { signal })).arrayBuffer()
}

async function untilResponding(): Promise<void> {
  const isResponding = () =>
    requestAll().then(
      () => true,
      () => false,
    )
  while (!(await isResponding())) await sleep(100)
}

const [folder, into] = process.argv.slice(2).map((url) => new URL(url))
if (folder === undefined || into === undefined) throw new Error('Expected the URLs of two folders.')
const port = await freePort()
const { run, createCodeCache } = compileProgram(folder)
// Otherwise V8 discards the bytecode of functions that have not run for a while, such as those of the start.
setFlagsFromString('--no-flush-bytecode')
process.once('exit', () => {
  // V8 accepts a cache only with the flags with which it was created.
  setFlagsFromString('--flush-bytecode')
  writeFileSync(codeCacheFile(into), createCodeCache())
})
process.argv = [process.execPath, 'micwatch', 'serve', '--demo', '--host', '127.0.0.1', '--port', String(port)]
run()

await untilResponding()
for (const respondedAt = performance.now(); performance.now() - respondedAt < runningMs; await sleep(250)) {
  await requestAll()
}
process.emit('SIGTERM')

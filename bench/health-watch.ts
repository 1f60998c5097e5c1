/** Asks a service the same thing again and again, for a sign of life unless told otherwise, from a thread of its own: whoever loads it is busy as well. */

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

const program = `
const { Agent, request } = require('node:http')
const { parentPort, workerData } = require('node:worker_threads')
const agent = new Agent({ keepAlive: true })
const times = []
let trouble = null
let isOver = false
parentPort.on('message', () => { isOver = true })
const ask = () => {
  if (isOver) { parentPort.postMessage({ times, trouble }); process.exit() }
  const startedAt = performance.now()
  const again = () => setTimeout(ask, 20)
  const asked = request({ host: '127.0.0.1', ...workerData, agent }, (answer) => {
    if (answer.statusCode !== 200) trouble ??= 'answered ' + answer.statusCode
    answer.resume()
    answer.on('end', () => { times.push(performance.now() - startedAt); again() })
  })
  asked.on('error', (error) => { trouble ??= String(error); again() })
  asked.end()
}
ask()
`

export interface HealthWatch {
  /** How long the answers took, in ms; throws when one was not 200. */
  end(): Promise<readonly number[]>
  /** Ends it, if it has not ended. */
  close(): Promise<void>
}

export function watchHealth(port: number, path = '/healthz'): HealthWatch {
  const worker = new Worker(program, { eval: true, workerData: { port, path } })
  return {
    async end() {
      worker.postMessage('end')
      const [{ times, trouble }] = await once(worker, 'message')
      if (trouble !== null) throw new Error(`${path} ${trouble}`)
      return times
    },
    close: async () => void (await worker.terminate()),
  }
}

/**
 * Measures response times of one path (by default `/healthz`) from a worker thread, because the main thread may be busy
 * generating load.
 */

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

const program = `
const { Agent, request } = require('node:http')
const { parentPort, workerData } = require('node:worker_threads')
const agent = new Agent({ keepAlive: true })
const times = []
let failure = null
let isStopped = false
parentPort.on('message', () => { isStopped = true })
const send = () => {
  if (isStopped) { parentPort.postMessage({ times, failure }); process.exit() }
  const startedAt = performance.now()
  const sendNext = () => setTimeout(send, 20)
  const clientRequest = request({ host: '127.0.0.1', ...workerData, agent }, (response) => {
    if (response.statusCode !== 200) failure ??= 'returned ' + response.statusCode
    response.resume()
    response.on('end', () => { times.push(performance.now() - startedAt); sendNext() })
  })
  clientRequest.on('error', (error) => { failure ??= String(error); sendNext() })
  clientRequest.end()
}
send()
`

export interface HealthWatch {
  /** Stops, and returns the response times in ms; throws if a request failed or a status was not 200. */
  end(): Promise<readonly number[]>
  /** Stops the worker if it still runs. */
  close(): Promise<void>
}

export function watchHealth(port: number, path = '/healthz'): HealthWatch {
  const worker = new Worker(program, { eval: true, workerData: { port, path } })
  return {
    async end() {
      worker.postMessage('end')
      const [{ times, failure }] = await once(worker, 'message')
      if (failure !== null) throw new Error(`${path} ${failure}`)
      return times
    },
    close: async () => void (await worker.terminate()),
  }
}

/**
 * Requests data.json continuously. Runs in a separate process, so that it does not slow down the measurement:
 * `http-load-process.ts <address> <connections>`.
 */

import { loadHttp } from './http-load.ts'

const [address = '', connections = '16'] = process.argv.slice(2)
const load = loadHttp(address, { path: '/api/data.json', seconds: 3600, connections: Number(connections) })
console.log('{}')
await load

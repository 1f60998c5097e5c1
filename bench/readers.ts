/** Hungry readers in a process of their own, so that they hold up nobody who measures: `readers.ts <address> <connections>`. */

import { loadHttp } from './http-load.ts'

const [address = '', connections = '16'] = process.argv.slice(2)
const load = loadHttp(address, { path: '/api/data.json', seconds: 3600, connections: Number(connections) })
console.log('{}')
await load

/** Sends a test message to each of these channels, and prints the results: send-child.ts <JSON of [type, config][]> */

import { notificationServices } from '../../../src/alerts/services/index.ts'
import { buildKit, buildMessage } from './kit.ts'

const channels = JSON.parse(process.argv[2] ?? '[]') as [keyof typeof notificationServices, Record<string, unknown>][]
const results = await Promise.all(
  channels.map(([type, config]) => {
    const service = notificationServices[type]
    return service.send(service.parse(config), buildMessage({ type: 'test', alerts: [] }), buildKit())
  }),
)
console.log(JSON.stringify(results))

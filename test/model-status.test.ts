/** How far the model of a receiver has been verified, as its page shows it. */

import { expect, it } from 'vitest'
import { startMcpSimulator } from '../simulators/sennheiser/mcp.ts'
import { startStringsSimulator } from '../simulators/shure/strings.ts'
import { startApp, type TestApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'

async function readStatus(app: TestApp) {
  const [receiver] = await until('the receiver is known', async () => {
    const receivers = await app.receivers()
    return receivers.length > 0 && receivers
  })
  return (await app.get(`/api/receivers/${receiver?.id}/`)).json.model_status
}

// Conformance: C-24.62.
it.concurrent.each([
  ['shure', () => startStringsSimulator({ family: 'ulxd' }), 'ULX-D'],
  ['sennheiser', () => startMcpSimulator({ host: '127.0.0.14' }), 'ew G4, ew G3, 2000 series receivers'],
])('a receiver of %s has the status of its family', async (code, start, model) => {
  const simulator = await start()
  onTestEnd(() => simulator.close())
  const app = await startApp({ manufacturers: [{ code, config: { devices: [simulator.url] } }] })
  expect(await readStatus(app)).toEqual({
    ...{ model, firmware: null, status: 'documents', values: [] },
    date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    source: expect.stringContaining(code === 'shure' ? 'Shure' : 'Sennheiser'),
  })
})

// Conformance: C-24.62.
it.concurrent('a receiver that a script reports has no status', async () => {
  const app = await startApp()
  const receivers = [{ api_device_id: 'rack', name: 'Rack', channels: [{ channel: 1 }] }]
  await app.post('/api/ingest/', { source: 'script', receivers })
  expect(await readStatus(app)).toBeNull()
})

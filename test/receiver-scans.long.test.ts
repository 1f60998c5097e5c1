/** Receivers whose scan was cut off by a lost connection, or by the end of the service. */

import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { startSsc1Simulator } from '../simulators/sennheiser/ssc1.ts'
import { startApp, type TestApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { tokenHeaders } from './support/tokens.ts'

const config = { control: ['scan'], control_unconfirmed: true }

async function startScan() {
  const simulator = await startSsc1Simulator({ model: 'EM6000', scanStepMs: 5, staysTuned: true })
  onTestEnd(() => simulator.close())
  for (const channel of [1, 2]) simulator.setLinked(channel, false)
  const manufacturers = [{ code: 'sennheiser', config: { devices: [simulator.url], poll_interval: 1, timeout: 2 } }]
  const app = await startApp({ manufacturers, config })
  const headers = { ...(await tokenHeaders(app, 'admin')), 'content-type': 'application/json' }
  const [{ id }] = await until('the receiver is known', async () => {
    const known = (await app.get('/api/receivers/', headers)).json
    return known.length > 0 && known
  })
  await app.send('PATCH', `/api/admin/receivers/${id}/`, { headers, body: JSON.stringify({ spare: true }) })
  const range = { from_mhz: 500, to_mhz: 510, step_khz: 25, sweeps: 1000, confirm: true }
  const before = [simulator.value('/rx1/carrier'), simulator.value('/rx2/carrier')]
  expect((await app.post(`/api/receivers/${id}/scan/`, range, headers)).status).toBe(202)
  const untilTuned = (service: TestApp) =>
    until(
      'the scan has ended',
      async () => (await service.get(`/api/receivers/${id}/`, headers)).json.details?.scanning === undefined,
      60_000,
    )
  const state = () => [simulator.isScanning, simulator.value('/rx1/carrier'), simulator.value('/rx2/carrier')]
  return { simulator, app, manufacturers, before, untilTuned, state }
}

// Conformance: C-23.151.
it.concurrent('are tuned again when they respond', async () => {
  const { simulator, app, before, untilTuned, state } = await startScan()
  simulator.udp.network.content = 'none'
  // The device ends its scan without a confirmation that arrives, and stays where it was.
  await until('the scan was cut off', () => !simulator.isScanning, 60_000)
  await pause(6000)
  expect(state()).not.toEqual([false, ...before])
  simulator.udp.network.content = 'valid'
  await untilTuned(app)
  expect(state()).toEqual([false, ...before])
})

// Conformance: C-23.152.
it.concurrent('are tuned again by the next service', async () => {
  const { simulator, app, manufacturers, before, untilTuned, state } = await startScan()
  simulator.udp.network.content = 'none'
  await app.close()
  simulator.set({ '/rx1/carrier': 600_000 })
  simulator.udp.network.content = 'valid'
  const { databaseUrl, dataDir } = app
  const next = await startApp({ manufacturers, config, databaseUrl, dataDir })
  await untilTuned(next)
  expect(state()).toEqual([false, ...before])
})

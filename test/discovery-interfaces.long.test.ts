/** Discovery on a machine with several networks: for control, for Dante, without an answer, and of containers. */

import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { createInstallation, until } from './support/app.ts'
import { createNamespaces } from './support/network/namespaces.ts'

const dsqd = fileURLToPath(new URL('support/network/dsqd.ts', import.meta.url))

// Conformance: C-24.4.
it('names the interfaces on which a device answers, and joins its ports', async () => {
  const manufacturer = (devices: readonly string[]) => ({
    manufacturers: [{ code: 'lectrosonics', config: { devices, poll_interval: 1 } }],
  })
  const installation = await createInstallation(manufacturer([]))
  const network = await createNamespaces(['control', 'dante'], ['empty', 'docker0'])
  network.startEquipment(dsqd)
  const service = await installation.serve([], {}, network.serviceLauncher)
  const request = (path: string, method?: string, body?: object) =>
    network.request(`http://127.0.0.1:${service.port}${path}`, method, body)
  expect((await request('/api/discover/networks/')).json).toEqual(['10.77.1.0/24', '10.77.2.0/24', '10.77.3.0/24'])

  const scan = async (scan_subnet: string) => (await request('/api/discover/', 'POST', { scan_subnet })).json.devices
  const device = { device_type: 'dsqd', manufacturer: 'lectrosonics' }
  const control = { ...device, ip: '10.77.1.2', heard_on: ['control'] }
  await until('the device responds', async () => (await scan('10.77.1.0/28')).length > 0)
  expect(await scan('10.77.1.0/28')).toMatchObject([control])
  expect(await scan('10.77.2.0/28')).toMatchObject([{ ...device, ip: '10.77.2.2', heard_on: ['dante'] }])
  expect(await scan('10.77.0.0/22')).toMatchObject([{ ...control, heard_on: ['control', 'dante'] }])

  const both = manufacturer(['tcp://10.77.1.2:4080', 'tcp://10.77.2.2:4080'])
  await installation.write('micwatch.yaml', JSON.stringify(both))
  process.kill(service.pid, 'SIGHUP')
  const receivers = async () => (await request('/api/receivers/')).json
  await until('the receiver is monitored', async () => (await receivers()).length > 0)
  await pause(3_000)
  expect([await receivers(), (await request('/api/movements/unacknowledged/')).json]).toMatchObject([
    [{ device_type: 'dsqd', is_active: true }],
    { count: 0 },
  ])
})

/** After a restart, the service knows which sources report a receiver, even if one of them no longer responds. */

import { expect, it } from 'vitest'
import type { AlertBody } from '../src/contract/alerts.ts'
import { configFor, deviceOf, startApp, startShure, until, withoutPush } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { createTestDatabase, withDatabase } from './support/store/databases.ts'

// Conformance: C-11.5.
it('raises no alerts for receivers of a system that is down at the start while another system responds', async () => {
  const database = await createTestDatabase('sqlite')
  onTestEnd(database.drop)
  const [failing, healthy] = [
    withoutPush(await startShure({ receivers: 1 })),
    withoutPush(await startShure({ receivers: 1, firstNumber: 2, seed: 7 })),
  ]
  const { api_base_url: url, shared_key: password } = healthy.config
  const manufacturers = [configFor(failing, { devices: [{ url, password }] })]
  const options = { databaseUrl: database.url, manufacturers }
  const first = await startApp(options)
  await until('both receivers are known', async () => (await first.receivers()).length === 2)
  const isStored = async () =>
    (await withDatabase(first, ({ read }) => read.selectFrom('receiver_sources').selectAll().execute())).length === 2
  await until('their sources are stored', isStored)
  await first.close()

  failing.setFault({ type: 'status', status: 500 })
  const second = await startApp(options)
  const { id } = deviceOf(failing)
  const { id: receiverId } = await second.receiver(id)
  const { json } = await second.get(`/api/receivers/${receiverId}/`)
  expect(json.sources).toEqual([failing.config.api_base_url])
  await until('the receiver is offline', async () => !(await second.receiver(id)).is_active, 90_000)
  const requests = () => healthy.requests.count('/api/v1/devices')
  const before = requests()
  await until('the healthy system was polled', () => requests() > before + 3)
  const alerts = (await second.get('/api/alerts/')).json as AlertBody[]
  expect(alerts.filter(({ receiver_id }) => receiver_id !== null)).toEqual([])
  expect(alerts.map(({ kind }) => kind)).toContain('upstream_failing')
})

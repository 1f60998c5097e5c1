/**
 * Sends invalid input of every kind, generated from a seed: nothing crashes or hangs, and the process survives.
 * `npm run bench:reliability` sends more such input.
 */

import { expect, it } from 'vitest'
import { fuzz, startFuzzSystems, unusedAddress } from '../../bench/reliability/fuzz/index.ts'
import { createInstallation } from '../support/app.ts'
import { onTestEnd } from '../support/cleanup.ts'

const seed = 20_260_501
const counts = { requests: 800, messages: 300, frames: 60, responses: 120, streams: 24 }

// Reliability: 1.9, 1.20, 2.1.2.
it(`survives invalid requests, messages, frames, responses and streams (seed ${seed})`, {
  timeout: 120_000,
}, async () => {
  const systems = await startFuzzSystems(seed)
  onTestEnd(() => systems.close())
  const installation = await createInstallation({
    manufacturers: systems.manufacturers,
    planning_center_url: unusedAddress,
  })
  const service = await installation.serve()
  const created = await service.post('/api/auth/setup', { username: 'ana', password: 'correct horse battery' })
  const cookie = (created.headers['set-cookie'] ?? []).map((header) => header.split(';')[0]).join('; ')
  const session = { cookie, 'x-csrf-token': created.json.csrf_token }
  const { json } = await service.post('/api/admin/tokens/', { name: 'fuzz', role: 'admin' }, session)
  const target = {
    address: `http://127.0.0.1:${service.port}`,
    headers: { authorization: `Bearer ${json.token}` },
    tokenId: json.id as number,
    pid: service.pid,
  }
  const report = await fuzz(seed, target, systems, counts)
  expect({ seed, problems: report.problems, counts: Object.fromEntries(report.counts) }).toMatchObject({ problems: [] })
  expect(service.isRunning()).toBe(true)
  // The input had an effect: some requests created resources, others resulted in 404 or 400.
  for (const kind of ['REST 200', 'REST 201', 'REST 204', 'REST 400', 'REST 404', 'raw 400']) {
    expect([kind, report.counts.get(kind) ?? 0]).toEqual([kind, expect.toSatisfy((count: number) => count > 0)])
  }
  expect(service.err()).not.toContain('request failed')
})

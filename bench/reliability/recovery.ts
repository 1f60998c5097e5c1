/**
 * Checks V1, A1 and L7 of docs/reliability.md: recovery after an upstream fault, a steady polling interval while
 * another upstream fails, and start-up time.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startSennheiserSimulator } from '../../simulators/sennheiser/system.ts'
import type { Fault } from '../../simulators/show/faults.ts'
import { startShureSimulator } from '../../simulators/shure/device-api.ts'
import { certify } from '../../test/support/certificates.ts'
import { startNetwork } from '../../test/support/faults/network.ts'
import { createTempFolder, percentile, residentBytes, waitFor } from '../harness.ts'
import { atLeast, atMost, type Check, type Finding } from './check.ts'
import { entryOf, plainShow, startService } from './service.ts'

const upstreamFaults: readonly Fault[] = [
  { type: 'reset' },
  { type: 'hang' },
  { type: 'status', status: 500 },
  { type: 'truncated' },
]

export const recovery: Check = {
  id: 'V1',
  description: 'recovery after an upstream outage of 5 s (interval 1 s, timeout 2 s)',
  async run(atEnd) {
    const simulator = await startShureSimulator({ ...plainShow, receivers: 5 })
    atEnd(() => simulator.close())
    const ca = await certify({ name: 'Bench CA', isCa: true })
    const valid = await certify({ name: '127.0.0.1', ca })
    const expired = await certify({ name: '127.0.0.1', ca, expiresAt: Date.now() - 1000 })
    const network = await startNetwork(atEnd, simulator.baseUrl, valid)
    const faults = [
      { name: 'refused connections', inject: network.refuse, clear: network.restore },
      {
        name: 'an expired certificate',
        inject: () => network.setCertificate(expired),
        clear: () => network.setCertificate(valid),
      },
      ...upstreamFaults.map((fault) => ({
        name: fault.type,
        inject: () => simulator.setFault(fault),
        clear: () => simulator.setFault(null),
      })),
    ]
    const folder = await createTempFolder(atEnd)
    await writeFile(join(folder, 'ca.pem'), ca.cert)
    const upstream = { api_base_url: network.url, ssl_verify: true, poll_interval: 1, timeout: 2 }
    const config = { manufacturers: [entryOf(simulator, upstream)] }
    const service = await startService(atEnd, folder, config, { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') })
    const isHealthy = async () => (await service.get('/api/health/')).json.status === 'healthy'
    const isListed = async () => (await service.get('/api/receivers/')).json.length === 5
    await waitFor(
      'the upstream is healthy and its receivers are listed',
      async () => (await isHealthy()) && (await isListed()),
    )
    const findings: Finding[] = []
    for (const { name, inject, clear } of faults) {
      await inject()
      await sleep(5000)
      await waitFor('the service reports the failure', async () => !(await isHealthy()))
      await clear()
      const clearedAt = performance.now()
      await waitFor('the upstream is healthy again', isHealthy, 40_000)
      const limit = name === 'hang' ? 10 : 8
      findings.push(atMost(`after ${name}`, (performance.now() - clearedAt) / 1000, limit, 's'))
    }
    return findings
  },
}

export const cadence: Check = {
  id: 'A1',
  description: 'a healthy upstream is polled every second while another one fails',
  async run(atEnd, { isQuick }) {
    const shure = await startShureSimulator({ ...plainShow, receivers: 5 })
    const sennheiser = await startSennheiserSimulator({ ...plainShow, receivers: 5 })
    atEnd(() => shure.close())
    atEnd(() => sennheiser.close())
    const pollOptions = { poll_interval: 1, timeout: 2 }
    const manufacturers = [entryOf(shure, pollOptions), entryOf(sennheiser, pollOptions)]
    const service = await startService(atEnd, await createTempFolder(atEnd), { manufacturers })
    await waitFor('all receivers are listed', async () => (await service.get('/api/receivers/')).json.length === 10)
    const gaps: number[] = []
    let last = performance.now()
    let lastTotal = shure.requests.total
    const cycles = isQuick ? 20 : 120
    let index = 0
    while (gaps.length <= cycles) {
      if (shure.requests.total !== lastTotal) {
        lastTotal = shure.requests.total
        gaps.push((performance.now() - last) / 1000)
        last = performance.now()
        if (gaps.length % 10 === 0) sennheiser.setFault(upstreamFaults[index++ % upstreamFaults.length] as Fault)
      }
      await sleep(2)
    }
    const regularGaps = gaps.slice(1)
    return [
      atMost('longest gap', Math.max(...regularGaps), 1.5, 's'),
      atLeast('shortest gap', Math.min(...regularGaps), 0.8, 's'),
      atMost('median gap', percentile(regularGaps, 50), 1.2, 's'),
    ]
  },
}

export const startup: Check = {
  id: 'L7',
  description: 'start-up time, empty and with 10,000 receivers, idle memory, and shutdown time',
  async run(atEnd, { isQuick }) {
    const times = { empty: [] as number[], full: [] as number[], stop: [] as number[] }
    let idleMemory = 0
    const measureStop = async (service: Awaited<ReturnType<typeof startService>>) => {
      const requestedAt = performance.now()
      service.kill('SIGTERM')
      await service.ended
      return (performance.now() - requestedAt) / 1000
    }
    const starts = isQuick ? 2 : 5
    for (let index = 0; index < starts; index++) {
      const service = await startService(atEnd, await createTempFolder(atEnd))
      times.empty.push(service.startMs / 1000)
      await sleep(1000)
      idleMemory = Math.max(idleMemory, ((await residentBytes(service.pid)) ?? 0) / 2 ** 20)
      times.stop.push(await measureStop(service))
    }
    const simulator = await startShureSimulator({
      ...plainShow,
      receivers: isQuick ? 1000 : 10_000,
      channelsPerReceiver: 4,
    })
    atEnd(() => simulator.close())
    const folder = await createTempFolder(atEnd)
    const config = { manufacturers: [entryOf(simulator, { poll_interval: 10 })] }
    const first = await startService(atEnd, folder, config)
    const count = simulator.deviceCount
    await waitFor(
      'all receivers are listed',
      async () => (await first.get('/api/receivers/')).json.length === count,
      120_000,
    )
    times.stop.push(await measureStop(first))
    for (let index = 0; index < starts; index++) {
      const service = await startService(atEnd, folder, config)
      times.full.push(service.startMs / 1000)
      service.kill('SIGKILL')
      await service.ended
    }
    return [
      atMost('start, empty (median)', percentile(times.empty, 50), 3, 's'),
      atMost(`start, ${count} receivers (median)`, percentile(times.full, 50), 5, 's'),
      atMost('idle memory', idleMemory, 150, 'MiB'),
      atMost('slowest stop', Math.max(...times.stop), 5, 's'),
    ]
  },
}

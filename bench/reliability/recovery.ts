/** V1, A1, L7: back to normal soon after a fault, and steady whatever else is broken. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startSennheiserSimulator } from '../../src/manufacturers/sennheiser/simulator.ts'
import { startShureSimulator } from '../../src/manufacturers/shure/simulator.ts'
import type { Fault } from '../../src/simulation/faults.ts'
import { certify } from '../../test/certificates.ts'
import { startNetwork } from '../../test/faults/network.ts'
import { makeFolder, percentile, until } from '../harness.ts'
import { atLeast, atMost, type Check, type Finding } from './check.ts'
import { residentBytes } from './fuzz/report.ts'
import { entryOf, plainShow, startService } from './service.ts'

const troubles: readonly Fault[] = [
  { type: 'reset' },
  { type: 'hang' },
  { type: 'status', status: 500 },
  { type: 'truncated' },
]

export const recovery: Check = {
  id: 'V1',
  what: 'an upstream that was away for 5 s is heard again (interval 1 s, timeout 2 s)',
  async run(atEnd) {
    const simulator = await startShureSimulator({ ...plainShow, receivers: 5 })
    atEnd(() => simulator.close())
    const ca = await certify({ name: 'Bench CA', isCa: true })
    const right = await certify({ name: '127.0.0.1', ca })
    const expired = await certify({ name: '127.0.0.1', ca, expiresAt: Date.now() - 1000 })
    const network = await startNetwork(atEnd, simulator.baseUrl, right)
    const faults = [
      { name: 'refused connections', strike: network.refuse, mend: network.restore },
      {
        name: 'an expired certificate',
        strike: () => network.setCertificate(expired),
        mend: () => network.setCertificate(right),
      },
      ...troubles.map((fault) => ({
        name: fault.type,
        strike: () => simulator.setFault(fault),
        mend: () => simulator.setFault(null),
      })),
    ]
    const folder = await makeFolder(atEnd)
    await writeFile(join(folder, 'ca.pem'), ca.cert)
    const upstream = { api_base_url: network.url, ssl_verify: true, poll_interval: 1, timeout: 2 }
    const config = { manufacturers: [entryOf(simulator, upstream)] }
    const service = await startService(atEnd, folder, config, { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') })
    const isWell = async () => (await service.get('/api/health/')).json.status === 'healthy'
    const isKnown = async () => (await service.get('/api/receivers/')).json.length === 5
    await until('all is well', async () => (await isWell()) && (await isKnown()))
    const findings: Finding[] = []
    for (const { name, strike, mend } of faults) {
      await strike()
      await sleep(5000)
      await until('it is noticed', async () => !(await isWell()))
      await mend()
      const backAt = performance.now()
      await until('all is well again', isWell, 40_000)
      const limit = name === 'hang' ? 10 : 8
      findings.push(atMost(`after ${name}`, (performance.now() - backAt) / 1000, limit, 's'))
    }
    return findings
  },
}

export const cadence: Check = {
  id: 'A1',
  what: 'a healthy upstream is asked every second, whatever another one does',
  async run(atEnd, { isQuick }) {
    const shure = await startShureSimulator({ ...plainShow, receivers: 5 })
    const sennheiser = await startSennheiserSimulator({ ...plainShow, receivers: 5 })
    atEnd(() => shure.close())
    atEnd(() => sennheiser.close())
    const pace = { poll_interval: 1, timeout: 2 }
    const manufacturers = [entryOf(shure, pace), entryOf(sennheiser, pace)]
    const service = await startService(atEnd, await makeFolder(atEnd), { manufacturers })
    await until('all are known', async () => (await service.get('/api/receivers/')).json.length === 10)
    const gaps: number[] = []
    let last = performance.now()
    let seen = shure.requests.total
    const cycles = isQuick ? 20 : 120
    let nth = 0
    while (gaps.length <= cycles) {
      if (shure.requests.total !== seen) {
        seen = shure.requests.total
        gaps.push((performance.now() - last) / 1000)
        last = performance.now()
        if (gaps.length % 10 === 0) sennheiser.setFault(troubles[nth++ % troubles.length] as Fault)
      }
      await sleep(2)
    }
    const steady = gaps.slice(1)
    return [
      atMost('longest gap', Math.max(...steady), 1.5, 's'),
      atLeast('shortest gap', Math.min(...steady), 0.8, 's'),
      atMost('median gap', percentile(steady, 50), 1.2, 's'),
    ]
  },
}

export const starting: Check = {
  id: 'L7',
  what: 'starts, empty and with 10,000 receivers; memory at rest; stops in time',
  async run(atEnd, { isQuick }) {
    const times = { empty: [] as number[], full: [] as number[], stop: [] as number[] }
    let rest = 0
    const stopOf = async (service: Awaited<ReturnType<typeof startService>>) => {
      const askedAt = performance.now()
      service.kill('SIGTERM')
      await service.ended
      return (performance.now() - askedAt) / 1000
    }
    const starts = isQuick ? 2 : 5
    for (let nth = 0; nth < starts; nth++) {
      const service = await startService(atEnd, await makeFolder(atEnd))
      times.empty.push(service.startMs / 1000)
      await sleep(1000)
      rest = Math.max(rest, ((await residentBytes(service.pid)) ?? 0) / 2 ** 20)
      times.stop.push(await stopOf(service))
    }
    const simulator = await startShureSimulator({
      ...plainShow,
      receivers: isQuick ? 1000 : 10_000,
      channelsPerReceiver: 4,
    })
    atEnd(() => simulator.close())
    const folder = await makeFolder(atEnd)
    const config = { manufacturers: [entryOf(simulator, { poll_interval: 10 })] }
    const first = await startService(atEnd, folder, config)
    const count = simulator.deviceCount
    await until('all are known', async () => (await first.get('/api/receivers/')).json.length === count, 120_000)
    times.stop.push(await stopOf(first))
    for (let nth = 0; nth < starts; nth++) {
      const service = await startService(atEnd, folder, config)
      times.full.push(service.startMs / 1000)
      service.kill('SIGKILL')
      await service.ended
    }
    return [
      atMost('start, empty (median)', percentile(times.empty, 50), 3, 's'),
      atMost(`start, ${count} receivers (median)`, percentile(times.full, 50), 5, 's'),
      atMost('memory at rest', rest, 150, 'MiB'),
      atMost('slowest stop', Math.max(...times.stop), 5, 's'),
    ]
  },
}

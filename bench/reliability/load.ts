/** L1, L2, L3: how much it answers, and how it answers while much happens. */

import { Agent, get } from 'node:http'
import { startShureSimulator } from '../../src/manufacturers/shure/simulator.ts'
import { atRate, makeFolder, percentile, until } from '../harness.ts'
import { watchHealth } from '../health-watch.ts'
import { requestsPerSecond } from '../http-load.ts'
import { startBareHttp } from '../servers.ts'
import { countFrames, openSocket } from '../wire-socket.ts'
import { atLeast, atMost, type Check } from './check.ts'
import { residentBytes } from './fuzz/report.ts'
import { entryOf, plainShow, type Service, startService } from './service.ts'

export const throughput: Check = {
  id: 'L1',
  what: 'GET /api/receivers/ of 100, over 50 connections, beside a bare server of the same bytes',
  isQuick: true,
  async run(atEnd, { isQuick }) {
    const simulator = await startShureSimulator({ ...plainShow, receivers: 100, channelsPerReceiver: 4 })
    atEnd(() => simulator.close())
    const folder = await makeFolder(atEnd)
    const service = await startService(atEnd, folder, { manufacturers: [entryOf(simulator)] })
    await until('all are known', async () => (await service.get('/api/receivers/')).json.length === 100)
    const reference = await startBareHttp(atEnd, await fetch(`${service.address}/api/receivers/`))
    const load = { path: '/api/receivers/', connections: 50, seconds: isQuick ? 3 : 20 }
    const ours = await requestsPerSecond(service.address, load)
    const bare = await requestsPerSecond(reference.address, load)
    return [atLeast('requests', ours, Math.max(1000, 0.3 * bare), '/s', bare)]
  },
}

export const openLoop: Check = {
  id: 'L2',
  what: '200 requests/s come whatever is answered: 1,000 receivers × 4, 5 % change each poll, 500 WebSocket clients',
  async run(atEnd) {
    const receivers = 1000
    const simulator = await startShureSimulator({ ...plainShow, receivers, channelsPerReceiver: 4 })
    atEnd(() => simulator.close())
    refuseLinks(simulator)
    const folder = await makeFolder(atEnd)
    const service = await startService(atEnd, folder, { manufacturers: [entryOf(simulator, { poll_interval: 5 })] })
    await until('all are known', async () => (await service.get('/api/receivers/')).json.length === receivers)
    let frames = 0
    for (let nth = 0; nth < 500; nth++) {
      const socket = await openSocket(`${service.address}/ws`)
      atEnd(() => socket.destroy())
      countFrames(socket, (count) => {
        frames += count
      })
    }
    const changing = setInterval(() => changeLevels(simulator, receivers / 20), 5000)
    atEnd(() => clearInterval(changing))
    const took = await takeTimes(service, { path: '/api/receivers/', perSecond: 200, seconds: 60 })
    return [
      atMost('99 % of answers', percentile(took, 99), 100, 'ms'),
      atMost('median answer', percentile(took, 50), 50, 'ms'),
      // Twelve polls, of which the first and the last may fall outside.
      atLeast('frames heard by the clients', frames, 500 * (receivers / 20) * 10, ''),
    ]
  },
}

type Simulator = Awaited<ReturnType<typeof startShureSimulator>>

/** Without a link, polling is what tells of changes. */
function refuseLinks(simulator: Simulator): void {
  simulator.setFault({ type: 'status', status: 404 }, { path: /\/ws$/ })
}

let turn = 0

/** Of so many receivers: the first on whose first channel somebody is. */
function changeLevels({ show, elapsed, manufacturer }: Simulator, count: number): void {
  turn += 1
  const inUse = show.devicesAt(elapsed(), manufacturer).filter(({ channels }) => channels[0]?.transmitter)
  for (const { device } of inUse.slice(0, count)) show.set(device.id, { battery: 20 + (turn % 70) }, 1)
}

/** Sends at its own pace; the times are from when a request was due. */
async function takeTimes(
  { address }: Pick<Service, 'address'>,
  { path, perSecond, seconds }: { path: string; perSecond: number; seconds: number },
): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  const times: number[] = []
  let sent = 0
  let trouble: string | null = null
  await atRate(perSecond, seconds, () => {
    sent += 1
    const startedAt = performance.now()
    get(address + path, { agent }, (answer) => {
      if (answer.statusCode !== 200) trouble ??= `${path} answered ${answer.statusCode}`
      answer.resume().on('end', () => times.push(performance.now() - startedAt))
    }).on('error', (error) => {
      trouble ??= String(error)
    })
  })
  await until('every request is answered', () => times.length === sent || trouble !== null)
  agent.destroy()
  if (trouble !== null) throw new Error(trouble)
  return times
}

export const bigHouse: Check = {
  id: 'L3',
  what: '10,000 receivers × 4, 10 % change each poll: from the poll to REST and to 50 clients',
  async run(atEnd, { isQuick }) {
    const receivers = isQuick ? 1000 : 10_000
    const simulator = await startShureSimulator({ ...plainShow, receivers, channelsPerReceiver: 4 })
    atEnd(() => simulator.close())
    refuseLinks(simulator)
    const folder = await makeFolder(atEnd)
    const service = await startService(atEnd, folder, { manufacturers: [entryOf(simulator, { poll_interval: 3600 })] })
    await until('all are known', async () => (await service.get('/api/receivers/')).json.length === receivers, 120_000)
    let frames = 0
    for (let nth = 0; nth < 50; nth++) {
      const socket = await openSocket(`${service.address}/ws`)
      atEnd(() => socket.destroy())
      countFrames(socket, (count) => {
        frames += count
      })
    }
    const shown: number[] = []
    const heard: number[] = []
    const signs: number[] = []
    for (let cycle = 0; cycle < (isQuick ? 2 : 10); cycle++) {
      const before = frames
      const known = await shownReceivers(service)
      changeLevels(simulator, receivers / 10)
      const health = watchHealth(service.port)
      atEnd(() => health.close())
      const startedAt = performance.now()
      await service.post('/api/refresh/')
      shown.push((performance.now() - startedAt) / 1000)
      const changed = [...(await shownReceivers(service))].filter(([id, text]) => known.get(id) !== text).length
      if (changed < receivers / 20) throw new Error(`only ${changed} receivers have changed`)
      await until('every client has every change', () => frames - before >= changed * 50, 30_000)
      heard.push((performance.now() - startedAt) / 1000)
      signs.push(...(await health.end()))
    }
    return [
      atMost('shown by REST (whole cycle, slowest)', Math.max(...shown), 3, 's'),
      atMost('heard by the last client (slowest)', Math.max(...heard), 5, 's'),
      atMost('longest /healthz meanwhile', Math.max(...signs), 250, 'ms'),
      atMost('memory', ((await residentBytes(service.pid)) ?? 0) / 2 ** 20, 600, 'MiB'),
    ]
  },
}

/** What can be seen of each, as text. */
async function shownReceivers(service: Service): Promise<ReadonlyMap<number, string>> {
  const { receivers } = (await service.get('/api/data.json')).json as { receivers: { id: number; channels: unknown }[] }
  return new Map(receivers.map(({ id, channels }) => [id, JSON.stringify(channels)]))
}

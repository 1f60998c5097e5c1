/** Checks L1, L2 and L3 of docs/reliability.md: throughput, and response times under load. */

import { Agent, get } from 'node:http'
import { startShureSimulator } from '../../simulators/shure/device-api.ts'
import { atRate, createTempFolder, percentile, residentBytes, waitFor } from '../harness.ts'
import { watchHealth } from '../health-watch.ts'
import { requestsPerSecond } from '../http-load.ts'
import { countFrames, openRawWebSocket } from '../raw-websocket.ts'
import { startBareHttp } from '../servers.ts'
import { atLeast, atMost, type Check } from './check.ts'
import { entryOf, plainShow, type Service, startService } from './service.ts'

export const throughput: Check = {
  id: 'L1',
  description:
    'GET /api/receivers/ with 100 receivers over 50 connections, compared with a minimal server that sends the same bytes',
  isQuick: true,
  async run(atEnd, { isQuick }) {
    const simulator = await startShureSimulator({ ...plainShow, receivers: 100, channelsPerReceiver: 4 })
    atEnd(() => simulator.close())
    const folder = await createTempFolder(atEnd)
    const service = await startService(atEnd, folder, { manufacturers: [entryOf(simulator)] })
    await waitFor('all receivers are listed', async () => (await service.get('/api/receivers/')).json.length === 100)
    const reference = await startBareHttp(atEnd, await fetch(`${service.address}/api/receivers/`))
    const load = { path: '/api/receivers/', connections: 50, seconds: isQuick ? 3 : 20 }
    const ours = await requestsPerSecond(service.address, load)
    const bare = await requestsPerSecond(reference.address, load)
    return [atLeast('requests', ours, Math.max(1000, 0.3 * bare), '/s', bare)]
  },
}

export const openLoop: Check = {
  id: 'L2',
  description: '200 requests/s at a constant rate: 1,000 receivers × 4, 5% change in each poll, 500 WebSocket clients',
  async run(atEnd) {
    const receivers = 1000
    const simulator = await startShureSimulator({ ...plainShow, receivers, channelsPerReceiver: 4 })
    atEnd(() => simulator.close())
    rejectSubscriptions(simulator)
    const folder = await createTempFolder(atEnd)
    const service = await startService(atEnd, folder, { manufacturers: [entryOf(simulator, { poll_interval: 5 })] })
    await waitFor(
      'all receivers are listed',
      async () => (await service.get('/api/receivers/')).json.length === receivers,
    )
    let frames = 0
    for (let index = 0; index < 500; index++) {
      const socket = await openRawWebSocket(`${service.address}/ws`)
      atEnd(() => socket.destroy())
      countFrames(socket, (count) => {
        frames += count
      })
    }
    const changing = setInterval(() => changeLevels(simulator, receivers / 20), 5000)
    atEnd(() => clearInterval(changing))
    const durations = await measureResponseTimes(service, { path: '/api/receivers/', perSecond: 200, seconds: 60 })
    return [
      atMost('responses, p99', percentile(durations, 99), 100, 'ms'),
      atMost('responses, median', percentile(durations, 50), 50, 'ms'),
      // One poll every 5 s for 60 s makes twelve polls. The first and the last may be outside the measurement.
      atLeast('frames received by the clients', frames, 500 * (receivers / 20) * 10, ''),
    ]
  },
}

type Simulator = Awaited<ReturnType<typeof startShureSimulator>>

/** Makes the system reject subscriptions, so that the service learns of changes only by polling. */
function rejectSubscriptions(simulator: Simulator): void {
  simulator.setFault({ type: 'status', status: 404 }, { path: /\/ws$/ })
}

let changeCount = 0

/** Changes the battery level of the first channel on the first `count` receivers whose first channel is in use. */
function changeLevels({ show, elapsed, manufacturer }: Simulator, count: number): void {
  changeCount += 1
  const inUse = show.devicesAt(elapsed(), manufacturer).filter(({ channels }) => channels[0]?.transmitter)
  for (const { device } of inUse.slice(0, count)) show.set(device.id, { battery: 20 + (changeCount % 70) }, 1)
}

/** Sends requests at a constant rate without waiting for responses; returns the response times in ms. */
async function measureResponseTimes(
  { address }: Pick<Service, 'address'>,
  { path, perSecond, seconds }: { path: string; perSecond: number; seconds: number },
): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  const times: number[] = []
  let sent = 0
  let failure: string | null = null
  await atRate(perSecond, seconds, () => {
    sent += 1
    const startedAt = performance.now()
    get(address + path, { agent }, (response) => {
      if (response.statusCode !== 200) failure ??= `${path} returned ${response.statusCode}`
      response.resume().on('end', () => times.push(performance.now() - startedAt))
    }).on('error', (error) => {
      failure ??= String(error)
    })
  })
  await waitFor('every request has a response', () => times.length === sent || failure !== null)
  agent.destroy()
  if (failure !== null) throw new Error(failure)
  return times
}

export const manyReceivers: Check = {
  id: 'L3',
  description: '10,000 receivers × 4, 10% change in each poll: time until REST and 50 clients have the changes',
  async run(atEnd, { isQuick }) {
    const receivers = isQuick ? 1000 : 10_000
    const simulator = await startShureSimulator({ ...plainShow, receivers, channelsPerReceiver: 4 })
    atEnd(() => simulator.close())
    rejectSubscriptions(simulator)
    const folder = await createTempFolder(atEnd)
    const service = await startService(atEnd, folder, { manufacturers: [entryOf(simulator, { poll_interval: 3600 })] })
    await waitFor(
      'all receivers are listed',
      async () => (await service.get('/api/receivers/')).json.length === receivers,
      120_000,
    )
    let frames = 0
    for (let index = 0; index < 50; index++) {
      const socket = await openRawWebSocket(`${service.address}/ws`)
      atEnd(() => socket.destroy())
      countFrames(socket, (count) => {
        frames += count
      })
    }
    const restSeconds: number[] = []
    const clientSeconds: number[] = []
    const healthMs: number[] = []
    for (let cycle = 0; cycle < (isQuick ? 2 : 10); cycle++) {
      const before = frames
      const channelsBefore = await readChannels(service)
      changeLevels(simulator, receivers / 10)
      const health = watchHealth(service.port)
      atEnd(() => health.close())
      const startedAt = performance.now()
      await service.post('/api/refresh/')
      restSeconds.push((performance.now() - startedAt) / 1000)
      const changed = [...(await readChannels(service))].filter(([id, text]) => channelsBefore.get(id) !== text).length
      if (changed < receivers / 20) throw new Error(`Only ${changed} receivers have changed.`)
      await waitFor('every client has received every change', () => frames - before >= changed * 50, 30_000)
      clientSeconds.push((performance.now() - startedAt) / 1000)
      healthMs.push(...(await health.end()))
    }
    return [
      atMost('changes in REST (whole cycle, slowest)', Math.max(...restSeconds), 3, 's'),
      atMost('changes at the last client (slowest)', Math.max(...clientSeconds), 5, 's'),
      atMost('longest /healthz response', Math.max(...healthMs), 250, 'ms'),
      atMost('memory', ((await residentBytes(service.pid)) ?? 0) / 2 ** 20, 600, 'MiB'),
    ]
  },
}

/** Returns the channels of each receiver in data.json, as JSON text by receiver id. */
async function readChannels(service: Service): Promise<ReadonlyMap<number, string>> {
  const { receivers } = (await service.get('/api/data.json')).json as { receivers: { id: number; channels: unknown }[] }
  return new Map(receivers.map(({ id, channels }) => [id, JSON.stringify(channels)]))
}

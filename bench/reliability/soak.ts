/** K1, K2: eight hours of cycles as fast as they go, with faults in between. Nothing grows, nothing slows down. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { WebSocket } from 'ws'
import { startShureSimulator } from '../../src/manufacturers/shure/simulator.ts'
import type { Fault } from '../../src/simulation/faults.ts'
import { startNetwork } from '../../test/faults/network.ts'
import { prepareRedis } from '../../test/redis-server.ts'
import { makeFolder, percentile, until } from '../harness.ts'
import { atMost, type Check, type Finding, none } from './check.ts'
import { residentBytes } from './fuzz/report.ts'
import { entryOf, plainShow, startService } from './service.ts'

const receivers = 200
const windows = 12
const warmUp = 4
export const soak: Check = {
  id: 'K1',
  what: '8 simulated hours: memory, descriptors, database and cycle time (K2) stay as they are',
  isLong: true,
  async run(atEnd, { isQuick, say }) {
    const cycles = isQuick ? 120 : 2880
    const everyCycles = isQuick ? 20 : 50
    const simulator = await startShureSimulator({ ...plainShow, receivers, channelsPerReceiver: 4 })
    atEnd(() => simulator.close())
    const network = await startNetwork(atEnd, simulator.baseUrl)
    const redis = await prepareRedis()
    atEnd(() => redis.stop())
    await redis.start()
    const upstream = (fault: Fault) => ({
      strike: () => simulator.setFault(fault),
      mend: () => simulator.setFault(null),
      answer: 503,
    })
    const faults = [
      { strike: network.refuse, mend: network.restore, answer: 503 },
      upstream({ type: 'status', status: 500 }),
      upstream({ type: 'truncated' }),
      // Until the timeout, which is one second.
      upstream({ type: 'hang' }),
      { strike: redis.kill, mend: redis.start, answer: 200 },
    ]
    const folder = await makeFolder(atEnd)
    const reach = { api_base_url: network.url, poll_interval: 3600, timeout: 1 }
    const manufacturers = [entryOf(simulator, reach)]
    const service = await startService(atEnd, folder, { manufacturers, redis_url: redis.url })
    await until('all are known', async () => (await service.get('/api/receivers/')).json.length === receivers)
    const sockets: WebSocket[] = []
    atEnd(() => {
      for (const socket of sockets) socket.terminate()
    })
    const open = () => {
      const socket = new WebSocket(`${service.address.replace('http', 'ws')}/ws`)
      socket.on('error', () => {})
      sockets.push(socket)
    }
    for (let nth = 0; nth < 50; nth++) open()
    const memory: number[] = []
    const sampling = setInterval(async () => memory.push(((await residentBytes(service.pid)) ?? 0) / 2 ** 20), 1000)
    atEnd(() => clearInterval(sampling))

    const times: number[] = []
    let early = { descriptors: 0, bytes: 0 }
    for (let cycle = 1; cycle <= cycles; cycle++) {
      const devices = simulator.show.devicesAt(simulator.elapsed(), simulator.manufacturer)
      const from = (cycle * 20) % receivers
      for (const { device } of devices.slice(from, from + 20))
        simulator.show.set(device.id, { battery: 20 + (cycle % 70) }, 1)
      const fault = cycle % everyCycles === 0 ? faults[(cycle / everyCycles) % faults.length] : undefined
      await fault?.strike()
      const startedAt = performance.now()
      const { status } = await service.post('/api/refresh/')
      if (fault === undefined) times.push(performance.now() - startedAt)
      if (status !== (fault?.answer ?? 200)) throw new Error(`cycle ${cycle} answered ${status}`)
      await fault?.mend()
      if (cycle % 100 === 0) {
        for (const socket of sockets.splice(0, 20)) socket.terminate()
        for (let nth = 0; nth < 20; nth++) open()
      }
      if (cycle === Math.floor(cycles / 3)) early = await measure(service.pid, folder)
    }
    const late = await measure(service.pid, folder)
    const errors = service
      .log()
      .split('\n')
      .filter((line) => /"level":(50|60)/.test(line))
    return [
      ...judgeMemory(memory),
      ...judgeTimes(times, cycles),
      none('log errors', errors, say),
      ...judgeRest(early, late),
    ]
  },
}

async function measure(pid: number, folder: string): Promise<{ descriptors: number; bytes: number }> {
  const descriptors = (await readdir(`/proc/${pid}/fd`).catch(() => [])).length
  // With what is still in the journal: when that is carried over is nobody's growth.
  const database = new DatabaseSync(join(folder, 'data', 'micwatch.db'), { readOnly: true })
  const read = (pragma: string) => Object.values(database.prepare(`pragma ${pragma}`).get() ?? {})[0] as number
  const bytes = read('page_count') * read('page_size')
  database.close()
  return { descriptors, bytes }
}

/** The least of each window: what is above it has yet to be collected. */
function judgeMemory(samples: readonly number[]): Finding[] {
  const size = Math.floor(samples.length / windows)
  if (size === 0) return []
  const least = Array.from({ length: windows }, (_, at) => Math.min(...samples.slice(at * size, (at + 1) * size)))
  const [first = 0, last = 0] = [least[warmUp], least.at(-1)]
  // A slope of 1 MiB in 360 cycles, an eighth of the run, is none.
  const limit = Math.max(first * 1.1, first + (windows - warmUp - 1) * (8 / windows))
  return [{ ...atMost('memory at the end', last, limit, 'MiB', first), isHard: true }]
}

function judgeTimes(times: readonly number[], cycles: number): Finding[] {
  const tenth = Math.floor(cycles / 10)
  const early = percentile(times.slice(tenth, tenth * 2), 50)
  return [atMost('K2: median of the last cycles', percentile(times.slice(-tenth), 50), early * 1.2, 'ms', early)]
}

function judgeRest(
  early: { descriptors: number; bytes: number },
  late: { descriptors: number; bytes: number },
): Finding[] {
  return [
    { ...atMost('descriptors', late.descriptors, early.descriptors + 5, '', early.descriptors), isHard: true },
    {
      ...atMost('database', late.bytes / 2 ** 20, (early.bytes / 2 ** 20) * 1.5, 'MiB', early.bytes / 2 ** 20),
      isHard: true,
    },
  ]
}

/**
 * Checks K1 and K2 of docs/reliability.md: as many polling cycles as the default interval allows in eight hours, run
 * without pauses and with faults in between. Nothing may grow or slow down.
 */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { WebSocket } from 'ws'
import type { Fault } from '../../simulators/show/faults.ts'
import { startShureSimulator } from '../../simulators/shure/device-api.ts'
import { startNetwork } from '../../test/support/faults/network.ts'
import { prepareRedis } from '../../test/support/store/redis-server.ts'
import { createTempFolder, percentile, residentBytes, waitFor } from '../harness.ts'
import { atMost, type Check, expectNone, type Finding } from './check.ts'
import { entryOf, plainShow, startService } from './service.ts'

const receivers = 200
const windows = 12
const warmUpWindows = 4
export const soak: Check = {
  id: 'K1',
  description: '8 simulated hours: memory, descriptors, database size and cycle time (K2) stay constant',
  isLong: true,
  async run(atEnd, { isQuick, log }) {
    const cycles = isQuick ? 120 : 2880
    const everyCycles = isQuick ? 20 : 50
    const simulator = await startShureSimulator({ ...plainShow, receivers, channelsPerReceiver: 4 })
    atEnd(() => simulator.close())
    const network = await startNetwork(atEnd, simulator.baseUrl)
    const redis = await prepareRedis()
    atEnd(() => redis.stop())
    await redis.start()
    const upstream = (fault: Fault) => ({
      inject: () => simulator.setFault(fault),
      clear: () => simulator.setFault(null),
      status: 503,
    })
    const faults = [
      { inject: network.refuse, clear: network.restore, status: 503 },
      upstream({ type: 'status', status: 500 }),
      upstream({ type: 'truncated' }),
      // This fault lasts until the request times out after one second.
      upstream({ type: 'hang' }),
      { inject: redis.kill, clear: redis.start, status: 200 },
    ]
    const folder = await createTempFolder(atEnd)
    const upstreamConfig = { api_base_url: network.url, poll_interval: 3600, timeout: 1 }
    const manufacturers = [entryOf(simulator, upstreamConfig)]
    const service = await startService(atEnd, folder, { manufacturers, redis_url: redis.url })
    await waitFor(
      'all receivers are listed',
      async () => (await service.get('/api/receivers/')).json.length === receivers,
    )
    const sockets: WebSocket[] = []
    atEnd(() => {
      for (const socket of sockets) socket.terminate()
    })
    const open = () => {
      const socket = new WebSocket(`${service.address.replace('http', 'ws')}/ws`)
      socket.on('error', () => {})
      sockets.push(socket)
    }
    for (let index = 0; index < 50; index++) open()
    const memory: number[] = []
    const sampling = setInterval(async () => memory.push(((await residentBytes(service.pid)) ?? 0) / 2 ** 20), 1000)
    atEnd(() => clearInterval(sampling))

    const times: number[] = []
    let early: Resources = { descriptors: 0, mebibytes: 0 }
    for (let cycle = 1; cycle <= cycles; cycle++) {
      const devices = simulator.show.devicesAt(simulator.elapsed(), simulator.manufacturer)
      const from = (cycle * 20) % receivers
      for (const { device } of devices.slice(from, from + 20))
        simulator.show.set(device.id, { battery: 20 + (cycle % 70) }, 1)
      const fault = cycle % everyCycles === 0 ? faults[(cycle / everyCycles) % faults.length] : undefined
      await fault?.inject()
      const startedAt = performance.now()
      const { status } = await service.post('/api/refresh/')
      if (fault === undefined) times.push(performance.now() - startedAt)
      if (status !== (fault?.status ?? 200)) throw new Error(`Cycle ${cycle} returned ${status}.`)
      await fault?.clear()
      if (cycle % 100 === 0) {
        for (const socket of sockets.splice(0, 20)) socket.terminate()
        for (let index = 0; index < 20; index++) open()
      }
      if (cycle === Math.floor(cycles / 3)) early = await readResources(service.pid, folder)
    }
    const late = await readResources(service.pid, folder)
    const errors = service
      .log()
      .split('\n')
      .filter((line) => /"level":(50|60)/.test(line))
    return [
      ...checkMemory(memory),
      ...checkCycleTimes(times, cycles),
      expectNone('log errors', errors, log),
      ...checkResources(early, late),
    ]
  },
}

interface Resources {
  readonly descriptors: number
  /** Size of the database without its history. */
  readonly mebibytes: number
}

/** The tables of the history grow until their first rows are old enough to be deleted. */
const sizeWithoutHistory = `select sum(pgsize) / 1048576.0 as mebibytes from dbstat where name not in (
  select name from sqlite_master where tbl_name in ('alerts', 'channel_states', 'discharges', 'events'))`

async function readResources(pid: number, folder: string): Promise<Resources> {
  const descriptors = (await readdir(`/proc/${pid}/fd`).catch(() => [])).length
  // Pages include the write-ahead log, so it makes no difference when a checkpoint takes place.
  const database = new DatabaseSync(join(folder, 'data', 'micwatch.db'), { readOnly: true })
  const { mebibytes } = database.prepare(sizeWithoutHistory).get() as { mebibytes: number }
  database.close()
  return { descriptors, mebibytes }
}

/**
 * Compares the last window with the first one after the warm-up, by the minimum of each, because memory above the
 * minimum may be uncollected garbage.
 */
function checkMemory(samples: readonly number[]): Finding[] {
  const size = Math.floor(samples.length / windows)
  if (size === 0) return []
  const minimums = Array.from({ length: windows }, (_, index) =>
    Math.min(...samples.slice(index * size, (index + 1) * size)),
  )
  const [first = 0, last = 0] = [minimums[warmUpWindows], minimums.at(-1)]
  // Allows growth of 10%, or growth at a rate of 8 MiB over all `windows`, whichever is larger.
  const limit = Math.max(first * 1.1, first + (windows - warmUpWindows - 1) * (8 / windows))
  return [{ ...atMost('memory at the end', last, limit, 'MiB', first), isCritical: true }]
}

function checkCycleTimes(times: readonly number[], cycles: number): Finding[] {
  const tenth = Math.floor(cycles / 10)
  const early = percentile(times.slice(tenth, tenth * 2), 50)
  return [atMost('K2: median of the last cycles', percentile(times.slice(-tenth), 50), early * 1.2, 'ms', early)]
}

function checkResources(early: Resources, late: Resources): Finding[] {
  return [
    { ...atMost('descriptors', late.descriptors, early.descriptors + 5, '', early.descriptors), isCritical: true },
    {
      ...atMost('database without history', late.mebibytes, early.mebibytes * 1.5, 'MiB', early.mebibytes),
      isCritical: true,
    },
  ]
}

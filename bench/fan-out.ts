/**
 * Frames delivered per second to many clients while all receivers change. Reference: a minimal `ws` broadcast of the
 * same frames.
 */

import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startShureSimulator } from '../simulators/shure/device-api.ts'
import { atRate, type Bench, cpuTimeMs, type Figure, residentMegabytes } from './harness.ts'
import { type Change, clientFrame, openRelay, toChanges, upstreamFrame } from './push.ts'
import { countFrames, openRawWebSocket } from './raw-websocket.ts'
import { startMicwatch } from './servers.ts'

const receivers = 100
const channelsPerReceiver = 4
/** Both loads result in 100,000 frames per second. */
const loads = [
  { clients: 100, updatesPerSecond: 10 },
  { clients: 1_000, updatesPerSecond: 1 },
]
const warmUpMs = 500
const seconds = 2

export const fanOut = (nodeOptions: readonly string[]): Bench => ({
  name: 'fan-out',
  runs: 3,
  async open(atEnd) {
    const options = { receivers, channelsPerReceiver, richList: true, story: false, pushesPerSecond: 0 }
    const simulator = await startShureSimulator(options)
    atEnd(() => simulator.close())
    const micwatch = await startMicwatch(atEnd, simulator, { pollSeconds: 3600, nodeOptions })
    const relay = await openRelay(atEnd)
    const changes = toChanges(simulator.show.devicesAt(0, simulator.manufacturer), micwatch.receivers)

    return {
      async measure() {
        const figures: Figure[] = []
        for (const { clients, updatesPerSecond } of loads) {
          const load = { clients, updates: receivers * updatesPerSecond, open: openRawWebSocket }
          const size = `${clients.toLocaleString('en')} clients × ${receivers} receivers × ${updatesPerSecond}/s`
          const ours = await measureDelivery(`${micwatch.address}/ws`, micwatch.pid, load, changes, (change, level) =>
            simulator.push.send(upstreamFrame(change, level)),
          )
          const reference = await measureDelivery(relay.address, relay.pid, load, changes, (change, level) =>
            relay.send(clientFrame(change, level)),
          )
          figures.push({ name: `${size}, frames`, unit: '/s', ours: ours.perSecond, reference: reference.perSecond })
          if (ours.cpuMs === null || reference.cpuMs === null) continue
          const name = `${size}, server CPU for 10,000 frames`
          figures.push({ name, unit: 'ms', ours: ours.cpuMs, reference: reference.cpuMs })
        }
        return figures
      },
    }
  },
})

export interface ClientLoad {
  readonly clients: number
  /** Updates per second, over all receivers. */
  readonly updates: number
  open(address: string): Promise<Socket>
}

interface DeliveryFigures {
  readonly perSecond: number
  /** CPU time of the server per 10,000 frames; null on systems without `/proc`. */
  readonly cpuMs: number | null
  /** CPU time of the server per change that the upstream reported, however many frames the change caused. */
  readonly cpuMsPerChange: number | null
  /** Resident memory of the server at the end. */
  readonly megabytes: number | null
}

export async function measureDelivery(
  address: string,
  pid: number,
  { clients, updates, open }: ClientLoad,
  changes: readonly Change[],
  send: (change: Change, level: number) => void,
): Promise<DeliveryFigures> {
  const sockets: Socket[] = []
  // In batches, because the server's backlog of pending connections is short.
  while (sockets.length < clients) {
    const batchSize = Math.min(100, clients - sockets.length)
    sockets.push(...(await Promise.all(Array.from({ length: batchSize }, () => open(address)))))
  }
  let frames = 0
  let changed = 0
  for (const socket of sockets) {
    countFrames(socket, (count) => {
      frames += count
    })
  }
  const sending = atRate(updates, (warmUpMs + 200) / 1000 + seconds, (index) => {
    const change = changes[index % changes.length] as Change
    changed += 1
    send(change, nextLevel(change))
  })
  await sleep(warmUpMs)
  const [before, changedBefore, startedAt, cpuBefore] = [frames, changed, performance.now(), await cpuTimeMs(pid)]
  await sleep(seconds * 1000)
  const [after, changedAfter, endedAt, cpuAfter] = [frames, changed, performance.now(), await cpuTimeMs(pid)]
  const megabytes = await residentMegabytes(pid)
  await sending
  for (const socket of sockets) socket.destroy()
  await sleep(200)
  const delivered = after - before
  if (delivered === 0) throw new Error(`${address} delivered no frames`)
  const cpuUsedMs = cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore
  return {
    perSecond: delivered / ((endedAt - startedAt) / 1000),
    cpuMs: cpuUsedMs === null ? null : (cpuUsedMs / delivered) * 10_000,
    cpuMsPerChange: cpuUsedMs === null ? null : cpuUsedMs / (changedAfter - changedBefore),
    megabytes,
  }
}

const lastLevels = new WeakMap<Change, number>()

/** Returns a level that differs from this receiver's last one, because unchanged levels are not sent. */
function nextLevel(change: Change): number {
  const level = -90 + (((lastLevels.get(change) ?? 0) + 1) % 60)
  lastLevels.set(change, level + 90)
  return level
}

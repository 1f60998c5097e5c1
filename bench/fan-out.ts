/** Many clients on a wall that never rests: frames delivered a second. Reference: a bare `ws` broadcast of the same frames. */

import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startShureSimulator } from '../src/manufacturers/shure/simulator.ts'
import { atRate, type Bench, cpuOf, type Figure, residentMegabytes } from './harness.ts'
import { type Change, clientFrame, openRelay, toChanges, upstreamFrame } from './push.ts'
import { startMicwatch } from './servers.ts'
import { countFrames, openSocket } from './wire-socket.ts'

const receivers = 100
const channelsPerReceiver = 4
/** A hundred thousand frames a second, both. */
const walls = [
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
        for (const { clients, updatesPerSecond } of walls) {
          const crowd = { clients, updates: receivers * updatesPerSecond, open: openSocket }
          const size = `${clients.toLocaleString('en')} clients × ${receivers} receivers × ${updatesPerSecond}/s`
          const ours = await deliver(`${micwatch.address}/ws`, micwatch.pid, crowd, changes, (change, level) =>
            simulator.push.send(upstreamFrame(change, level)),
          )
          const reference = await deliver(relay.address, relay.pid, crowd, changes, (change, level) =>
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

export interface Crowd {
  readonly clients: number
  /** A second, over all receivers. */
  readonly updates: number
  open(address: string): Promise<Socket>
}

interface Delivered {
  readonly perSecond: number
  /** Of the server, for 10,000 frames; null where the system does not tell, like the memory it holds meanwhile. */
  readonly cpuMs: number | null
  /** Of the server, for each change that it was told, however many frames came of it. */
  readonly cpuMsPerChange: number | null
  readonly megabytes: number | null
}

export async function deliver(
  address: string,
  pid: number,
  { clients, updates, open }: Crowd,
  changes: readonly Change[],
  send: (change: Change, level: number) => void,
): Promise<Delivered> {
  const sockets: Socket[] = []
  // A few at a time: the queue of connections that nobody has accepted yet is short.
  while (sockets.length < clients) {
    const more = Math.min(100, clients - sockets.length)
    sockets.push(...(await Promise.all(Array.from({ length: more }, () => open(address)))))
  }
  let frames = 0
  let changed = 0
  for (const socket of sockets) {
    countFrames(socket, (count) => {
      frames += count
    })
  }
  const sending = atRate(updates, (warmUpMs + 200) / 1000 + seconds, (nth) => {
    const change = changes[nth % changes.length] as Change
    changed += 1
    send(change, nextLevel(change))
  })
  await sleep(warmUpMs)
  const [before, changedBefore, startedAt, cpuBefore] = [frames, changed, performance.now(), await cpuOf(pid)]
  await sleep(seconds * 1000)
  const [after, changedAfter, endedAt, cpuAfter] = [frames, changed, performance.now(), await cpuOf(pid)]
  const megabytes = await residentMegabytes(pid)
  await sending
  for (const socket of sockets) socket.destroy()
  await sleep(200)
  const delivered = after - before
  if (delivered === 0) throw new Error(`${address} delivered nothing`)
  const used = cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore
  return {
    perSecond: delivered / ((endedAt - startedAt) / 1000),
    cpuMs: used === null ? null : (used / delivered) * 10_000,
    cpuMsPerChange: used === null ? null : used / (changedAfter - changedBefore),
    megabytes,
  }
}

const levels = new WeakMap<Change, number>()

/** Another one than the last, whoever was told that: else there would be nothing to tell. */
function nextLevel(change: Change): number {
  const level = -90 + (((levels.get(change) ?? 0) + 1) % 60)
  levels.set(change, level + 90)
  return level
}

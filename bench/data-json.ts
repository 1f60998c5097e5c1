/** Requests a second for everything at once. Reference: a bare node:http server that answers the same bytes. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startShureSimulator } from '../src/manufacturers/shure/simulator.ts'
import { type AtEnd, type Bench, type Figure, makeFolder, using } from './harness.ts'
import { loadHttp } from './http-load.ts'
import { startMicwatch, startReference } from './servers.ts'

const sizes = [100, 1_000]
const channelsPerReceiver = 4
const path = '/api/data.json'
const seconds = 0.7

interface Case {
  readonly name: string
  readonly connections: number
  /** Whether the upstream pushes all the while, five times a second for every receiver; it is polled in any case. */
  readonly isLive: boolean
  readonly headers?: Readonly<Record<string, string>>
  /** Each request names the tag of the last answer. */
  readonly isConditional?: boolean
}

const gzip = { 'accept-encoding': 'gzip' }
const cases: readonly Case[] = [
  { name: '16 connections, levels change', connections: 16, isLive: true },
  { name: '1 connection, levels change', connections: 1, isLive: true },
  { name: '16 connections, gzip, levels change', connections: 16, isLive: true, headers: gzip },
  { name: '16 connections, nothing pushed', connections: 16, isLive: false },
  { name: '16 connections, gzip, nothing pushed', connections: 16, isLive: false, headers: gzip },
  { name: '16 connections, If-None-Match, nothing pushed', connections: 16, isLive: false, isConditional: true },
]

export const dataJson = (nodeOptions: readonly string[]): Bench => ({
  name: 'data.json',
  runs: 3,
  async open() {
    return {
      async measure() {
        const figures: Figure[] = []
        for (const receivers of sizes)
          figures.push(...(await using((end) => measureHouse(end, receivers, nodeOptions))))
        return figures
      },
    }
  },
})

async function measureHouse(atEnd: AtEnd, receivers: number, nodeOptions: readonly string[]): Promise<Figure[]> {
  const simulator = await startShureSimulator({ receivers, channelsPerReceiver, richList: true, story: false })
  atEnd(() => simulator.close())
  const { address, pid } = await startMicwatch(atEnd, simulator, { pollSeconds: 1, nodeOptions })
  const reference = await startBareHttp(atEnd, await fetch(address + path))
  const figures: Figure[] = []
  for (const one of cases) {
    const name = `${receivers.toLocaleString('en')} × ${channelsPerReceiver}, ${one.name}`
    if (one.isLive) simulator.push.resume()
    await sleep(200)
    const ours = await loadHttp(address, { ...one, path, seconds, pid })
    // The reference has both cores to itself and the load.
    simulator.push.pause()
    const bare = await loadHttp(reference.address, { ...one, path, seconds, pid: reference.pid })
    figures.push({ name, unit: '/s', ours: ours.perSecond, reference: bare.perSecond })
    if (one.isConditional || one.connections === 1) {
      figures.push({ name: `${name}, p99`, unit: 'ms', ours: ours.p99Ms, reference: bare.p99Ms })
    }
    if (!one.isLive && ours.cpuMs !== null && bare.cpuMs !== null) {
      figures.push({
        name: `${name}, server CPU for 1,000 answers`,
        unit: 'ms',
        ours: ours.cpuMs,
        reference: bare.cpuMs,
      })
    }
  }
  return figures
}

async function startBareHttp(atEnd: AtEnd, answer: Response) {
  const file = join(await makeFolder(atEnd), 'body.json')
  await writeFile(file, Buffer.from(await answer.arrayBuffer()))
  return startReference(atEnd, 'http', file)
}

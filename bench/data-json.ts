/**
 * Requests a second for everything at once. Reference: a bare node:http server that answers the same bytes; where levels
 * change, while the same goes on beside it, and alone.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type AtEnd, type Bench, type Figure, using } from './harness.ts'
import { type HttpLoadFigures, loadHttp } from './http-load.ts'
import { startBareHttp, startMicwatch, startUpstream } from './servers.ts'

const sizes = [100, 1_000]
const channelsPerReceiver = 4
const path = '/api/data.json'
const seconds = 2
/** Once in every measurement. */
const pollSeconds = seconds
const pushesPerSecond = 5
/** So long it takes until the code that is measured is compiled for good. */
const warmUpSeconds = 2

interface Case {
  readonly name: string
  readonly connections: number
  readonly headers?: Readonly<Record<string, string>>
  /** Each request names the tag of the last answer. */
  readonly isConditional?: boolean
}

const gzip = { 'accept-encoding': 'gzip' }
/** The upstream pushes all the while, five times a second for every receiver; it is polled in any case. */
const liveCases: readonly Case[] = [
  { name: '16 connections', connections: 16 },
  { name: '1 connection', connections: 1 },
  { name: '16 connections, gzip', connections: 16, headers: gzip },
]
const quietCases: readonly Case[] = [
  { name: '16 connections', connections: 16 },
  { name: '16 connections, gzip', connections: 16, headers: gzip },
  { name: '16 connections, If-None-Match', connections: 16, isConditional: true },
]

export const dataJson = (nodeOptions: readonly string[]): Bench => ({
  name: 'data.json',
  runs: 3,
  async open() {
    return {
      async measure() {
        const figures: Figure[] = []
        for (const receivers of sizes) {
          figures.push(...(await using((end) => measureLive(end, receivers, nodeOptions))))
          figures.push(...(await using((end) => measureQuiet(end, receivers, nodeOptions))))
        }
        return figures
      },
    }
  },
})

async function measureLive(atEnd: AtEnd, receivers: number, nodeOptions: readonly string[]): Promise<Figure[]> {
  const { upstream, ours, bare } = await open(atEnd, receivers, nodeOptions, pushesPerSecond)
  const figures: Figure[] = []
  for (const one of liveCases) {
    const name = nameOf(receivers, one, 'levels change')
    const told = await load(ours, one)
    const beside = await load(bare, one)
    process.kill(upstream.pid, 'SIGSTOP')
    await sleep(200)
    const alone = await load(bare, one)
    process.kill(upstream.pid, 'SIGCONT')
    // What it has to tell since then is not part of the next case.
    await sleep(500)
    figures.push(rate(name, told, beside), rate(`${name}; the reference alone`, told, alone))
    if (one.connections === 1) figures.push(slowest(name, told, beside))
  }
  return figures
}

async function measureQuiet(atEnd: AtEnd, receivers: number, nodeOptions: readonly string[]): Promise<Figure[]> {
  const { ours, bare } = await open(atEnd, receivers, nodeOptions, 0)
  const figures: Figure[] = []
  for (const one of quietCases) {
    const name = nameOf(receivers, one, 'nothing pushed')
    const told = await load(ours, one)
    const reference = await load(bare, one)
    figures.push(rate(name, told, reference))
    if (one.isConditional) figures.push(slowest(name, told, reference))
    if (told.cpuMs === null || reference.cpuMs === null) continue
    const cpu = `${name}, server CPU for 1,000 answers`
    figures.push({ name: cpu, unit: 'ms', ours: told.cpuMs, reference: reference.cpuMs })
  }
  return figures
}

interface Server {
  readonly address: string
  readonly pid: number
}

async function open(atEnd: AtEnd, receivers: number, nodeOptions: readonly string[], pushes: number) {
  const upstream = await startUpstream(atEnd, { receivers, channelsPerReceiver, pushesPerSecond: pushes })
  const ours = await startMicwatch(atEnd, upstream, { pollSeconds, nodeOptions })
  const bare = await startBareHttp(atEnd, await fetch(ours.address + path))
  for (const { address } of [ours, bare]) await loadHttp(address, { path, connections: 16, seconds: warmUpSeconds })
  return { upstream, ours, bare }
}

function load({ address, pid }: Server, one: Case): Promise<HttpLoadFigures> {
  return loadHttp(address, { ...one, path, seconds, pid })
}

function nameOf(receivers: number, one: Case, what: string): string {
  return `${receivers.toLocaleString('en')} × ${channelsPerReceiver}, ${one.name}, ${what}`
}

function rate(name: string, ours: HttpLoadFigures, reference: HttpLoadFigures): Figure {
  return { name, unit: '/s', ours: ours.perSecond, reference: reference.perSecond }
}

function slowest(name: string, ours: HttpLoadFigures, reference: HttpLoadFigures): Figure {
  return { name: `${name}, p99`, unit: 'ms', ours: ours.p99Ms, reference: reference.p99Ms }
}

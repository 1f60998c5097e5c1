/**
 * Requests per second for data.json. Reference: a minimal node:http server that sends the same bytes. In the cases with
 * changing levels, it also receives and applies the changes, and each server is paused while the other is measured.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type AtEnd, type Bench, type Figure, withCleanup } from './harness.ts'
import { type HttpLoadFigures, loadHttp } from './http-load.ts'
import { startBareHttp, startMicwatch, startUpstream } from './servers.ts'

const sizes = [100, 1_000]
const channelsPerReceiver = 4
const path = '/api/data.json'
const seconds = 2
/** Equals one measurement, so that each measurement includes one poll. */
const pollSeconds = seconds
const pushesPerSecond = 5
/** Long enough for V8 to optimize the measured code. */
const warmUpSeconds = 2
const catchUpMs = 1000

interface Case {
  readonly name: string
  readonly connections: number
  readonly headers?: Readonly<Record<string, string>>
  /** Each request has an `If-None-Match` field with the ETag of the last response. */
  readonly isConditional?: boolean
}

const gzip = { 'accept-encoding': 'gzip' }
/** Cases measured while the upstream, which is also polled, pushes every receiver's levels five times a second. */
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
          figures.push(...(await withCleanup((atRunEnd) => measureLive(atRunEnd, receivers, nodeOptions))))
          figures.push(...(await withCleanup((atRunEnd) => measureQuiet(atRunEnd, receivers, nodeOptions))))
        }
        return figures
      },
    }
  },
})

async function measureLive(atEnd: AtEnd, receivers: number, nodeOptions: readonly string[]): Promise<Figure[]> {
  const { service, bareServer } = await open(atEnd, receivers, nodeOptions, pushesPerSecond)
  const figures: Figure[] = []
  for (const testCase of liveCases) {
    const name = caseTitle(receivers, testCase, 'levels change')
    const micwatch = await whilePaused(bareServer, () => runLoad(service, testCase))
    const reference = await whilePaused(service, () => runLoad(bareServer, testCase))
    figures.push(rateFigure(name, micwatch, reference))
    if (testCase.connections === 1) figures.push(p99Figure(name, micwatch, reference))
  }
  return figures
}

/** Measures while the other server uses no CPU time, then lets it catch up. */
async function whilePaused<T>(other: Server, measure: () => Promise<T>): Promise<T> {
  process.kill(other.pid, 'SIGSTOP')
  try {
    return await measure()
  } finally {
    process.kill(other.pid, 'SIGCONT')
    await sleep(catchUpMs)
  }
}

async function measureQuiet(atEnd: AtEnd, receivers: number, nodeOptions: readonly string[]): Promise<Figure[]> {
  const { service, bareServer } = await open(atEnd, receivers, nodeOptions, 0)
  const figures: Figure[] = []
  for (const testCase of quietCases) {
    const name = caseTitle(receivers, testCase, 'nothing pushed')
    const micwatch = await runLoad(service, testCase)
    const reference = await runLoad(bareServer, testCase)
    figures.push(rateFigure(name, micwatch, reference))
    if (testCase.isConditional) figures.push(p99Figure(name, micwatch, reference))
    if (micwatch.cpuMs === null || reference.cpuMs === null) continue
    const cpu = `${name}, server CPU per 1,000 responses`
    figures.push({ name: cpu, unit: 'ms', ours: micwatch.cpuMs, reference: reference.cpuMs })
  }
  return figures
}

interface Server {
  readonly address: string
  readonly pid: number
}

async function open(atEnd: AtEnd, receivers: number, nodeOptions: readonly string[], pushRate: number) {
  const options = { systems: 1, receivers, channelsPerReceiver, pushesPerSecond: pushRate }
  const upstream = await startUpstream(atEnd, options)
  const service = await startMicwatch(atEnd, upstream, { pollSeconds, nodeOptions })
  const mirror = pushRate === 0 ? undefined : upstream.systems[0]?.mirror
  const bareServer = await startBareHttp(atEnd, await fetch(service.address + path), mirror)
  for (const { address } of [service, bareServer])
    await loadHttp(address, { path, connections: 16, seconds: warmUpSeconds })
  return { service, bareServer }
}

function runLoad({ address, pid }: Server, testCase: Case): Promise<HttpLoadFigures> {
  return loadHttp(address, { ...testCase, path, seconds, pid })
}

function caseTitle(receivers: number, testCase: Case, condition: string): string {
  return `${receivers.toLocaleString('en')} × ${channelsPerReceiver}, ${testCase.name}, ${condition}`
}

function rateFigure(name: string, ours: HttpLoadFigures, reference: HttpLoadFigures): Figure {
  return { name, unit: '/s', ours: ours.perSecond, reference: reference.perSecond }
}

function p99Figure(name: string, ours: HttpLoadFigures, reference: HttpLoadFigures): Figure {
  return { name: `${name}, p99`, unit: 'ms', ours: ours.p99Ms, reference: reference.p99Ms }
}

/** The whole fuzz against one running service. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type HostileSystem, startHostile } from './hostile.ts'
import { complain, createReport, type FuzzReport, residentBytes } from './report.ts'
import { fuzzRest, type Target } from './rest.ts'
import { fuzzFrames, fuzzMessages } from './sockets.ts'
import { fuzzPolls, fuzzStreams, recover } from './upstream.ts'

export interface FuzzCounts {
  readonly requests: number
  readonly messages: number
  readonly frames: number
  readonly answers: number
  readonly streams: number
}

/** How many links there are at a time. */
const linkCount = 6

export interface FuzzSystems {
  readonly polled: HostileSystem
  readonly pushing: ReadonlyMap<string, HostileSystem>
  /** For the service's configuration. */
  readonly manufacturers: readonly object[]
  close(): Promise<void>
}

export async function startFuzzSystems(seed: number): Promise<FuzzSystems> {
  const polled = await startHostile(seed, { isPollHostile: true })
  const pushing = new Map<string, HostileSystem>()
  for (let nth = 0; nth < linkCount; nth++) {
    pushing.set(`push${nth}`, await startHostile(seed + nth * 1000, { isPollHostile: false }))
  }
  const entry = (code: string, plugin: string, { url }: HostileSystem) => {
    const pace = { calls_per_second: 1000, burst: 1000, poll_interval: 3600, timeout: 5 }
    return { code, plugin, config: { api_base_url: url, shared_key: 'the key', ...pace } }
  }
  const manufacturers = [
    entry('shure', 'shure', polled),
    ...[...pushing].map(([code, one], nth) => entry(code, nth % 2 === 0 ? 'shure' : 'sennheiser', one)),
  ]
  const close = async () => void (await Promise.all([polled, ...pushing.values()].map((one) => one.close())))
  return { polled, pushing, manufacturers, close }
}

/** Of a service with these systems, with limits too wide to be met. `pid`: whose memory is looked at. */
export async function fuzz(
  seed: number,
  target: Target & { readonly pid: number },
  systems: FuzzSystems,
  counts: FuzzCounts,
): Promise<FuzzReport> {
  const report = createReport(seed)
  const [system, code] = [systems.polled, 'shure']
  // What it takes to have started, and its first answers, is no leak.
  await fuzzPolls(report, target, { system, code, total: Math.ceil(counts.answers / 10) })
  const before = await residentBytes(target.pid)
  await fuzzPolls(report, target, { system, code, total: counts.answers })
  await recover(report, target, system, code)
  await fuzzStreams(report, target, { systems: systems.pushing, total: counts.streams })
  await fuzzMessages(report, target, counts.messages)
  await fuzzFrames(report, target, counts.frames)
  // The last, for it changes whatever can be changed.
  await fuzzRest(report, target, counts.requests)
  await judgeEnd(report, target, before)
  return report
}

async function judgeEnd(report: FuzzReport, { address, pid }: Target & { pid: number }, before: number | null) {
  await sleep(500)
  const { status } = await fetch(`${address}/healthz`)
  if (status !== 200) complain(report, `/healthz answers ${status}`)
  const after = await residentBytes(pid)
  if (after === null && before !== null) complain(report, 'the process is gone')
  // A small service may double by its heap settling; what counts is what goes on growing.
  const allowed = before === null ? null : Math.max(before * 1.5, before + 96 * 1024 * 1024)
  if (after !== null && allowed !== null && after > allowed) {
    complain(report, `memory rose from ${before} to ${after} bytes`)
  }
}

/** Runs all fuzz tests against one running service. */

import { setTimeout as sleep } from 'node:timers/promises'
import { residentBytes } from '../../harness.ts'
import { type HostileSystem, startHostileSystem } from './hostile-system.ts'
import { addProblem, createReport, type FuzzReport } from './report.ts'
import { fuzzRest, type Target } from './rest.ts'
import { fuzzFrames, fuzzMessages } from './sockets.ts'
import { expectRecovery, fuzzPolls, fuzzStreams } from './upstream.ts'

export interface FuzzCounts {
  readonly requests: number
  readonly messages: number
  readonly frames: number
  readonly responses: number
  readonly streams: number
}

/** Nothing listens here, so that no request leaves this machine. */
export const unusedAddress = 'http://127.0.0.1:9'

/** The number of systems that push changes; the service subscribes to each of them. */
const subscriptionCount = 6

export interface FuzzSystems {
  readonly polled: HostileSystem
  readonly pushing: ReadonlyMap<string, HostileSystem>
  /** Entries for the service's configuration. */
  readonly manufacturers: readonly object[]
  close(): Promise<void>
}

export async function startFuzzSystems(seed: number): Promise<FuzzSystems> {
  const polled = await startHostileSystem(seed, { isPollHostile: true })
  const pushing = new Map<string, HostileSystem>()
  for (let index = 0; index < subscriptionCount; index++) {
    pushing.set(`push${index}`, await startHostileSystem(seed + index * 1000, { isPollHostile: false }))
  }
  const entry = (code: string, plugin: string, { url }: HostileSystem) => {
    const limits = { calls_per_second: 1000, burst: 1000, poll_interval: 3600, timeout: 5 }
    return { code, plugin, config: { api_base_url: url, shared_key: 'the key', ...limits } }
  }
  const manufacturers = [
    entry('shure', 'shure', polled),
    ...[...pushing].map(([code, system], index) => entry(code, index % 2 === 0 ? 'shure' : 'sennheiser', system)),
  ]
  const close = async () => void (await Promise.all([polled, ...pushing.values()].map((system) => system.close())))
  return { polled, pushing, manufacturers, close }
}

/**
 * Runs all fuzz tests. The service must monitor `systems`, and its rate limit must be too high to be reached. `pid` is
 * the process whose memory is measured.
 */
export async function fuzz(
  seed: number,
  target: Target & { readonly pid: number },
  systems: FuzzSystems,
  counts: FuzzCounts,
): Promise<FuzzReport> {
  const report = createReport(seed)
  const [system, code] = [systems.polled, 'shure']
  // Warm-up: memory allocated for the first requests is not a leak.
  await fuzzPolls(report, target, { system, code, total: Math.ceil(counts.responses / 10) })
  const before = await residentBytes(target.pid)
  await fuzzPolls(report, target, { system, code, total: counts.responses })
  await expectRecovery(report, target, system, code)
  await fuzzStreams(report, target, { systems: systems.pushing, total: counts.streams })
  await fuzzMessages(report, target, counts.messages)
  await fuzzFrames(report, target, counts.frames)
  // Last, because it changes settings and data at random.
  await fuzzRest(report, target, counts.requests)
  await checkService(report, target, before)
  return report
}

const idleSeconds = 60

async function checkService(report: FuzzReport, { address, pid }: Target & { pid: number }, before: number | null) {
  await sleep(500)
  const { status } = await fetch(`${address}/healthz`)
  if (status !== 200) addProblem(report, `/healthz returned ${status}`)
  // Leaves room for the heap to grow to its working size.
  const allowed = before === null ? Number.POSITIVE_INFINITY : Math.max(before * 1.5, before + 96 * 1024 * 1024)
  let after = await residentBytes(pid)
  // An idle process collects its garbage within a minute.
  for (let second = 0; after !== null && after > allowed && second < idleSeconds; second++) {
    await sleep(1000)
    after = await residentBytes(pid)
  }
  if (after === null && before !== null) addProblem(report, 'the process has exited')
  if (after !== null && after > allowed) {
    addProblem(report, `memory rose from ${before} to ${after} bytes`)
  }
}

/** The processes that share a database, and the assignment of sources to them. */

import type { NodesBody } from '../contract/health.ts'

type NodeBody = NodesBody['nodes'][number]
type Process = NodesBody['processes'][number]

/** Prefixes of lease names: the node lease of a running process, the lease of a polling process, and subscriptions. */
export const nodePrefix = 'process:'
export const pollerPrefix = 'poller:'
export const subscriptionPrefix = 'link:'

export interface HeldLease {
  readonly source: string
  /** `host:pid:…` */
  readonly owner: string
  readonly epoch: number
  readonly seconds_left: number
}

export function toNodes(leases: readonly HeldLease[]): NodesBody {
  const owners = new Set(leases.map(({ owner }) => owner))
  return {
    nodes: leases.filter(({ source }) => isSourceLease(source)).map(toNode),
    processes: [...owners].sort().map(toProcess),
  }
}

/** Names of other leases, such as `notifications`, contain no manufacturer. */
function isSourceLease(lease: string): boolean {
  return lease.includes(':') && !lease.startsWith(nodePrefix) && !lease.startsWith(pollerPrefix)
}

function toNode({ source: lease, owner, epoch, seconds_left }: HeldLease): NodeBody {
  const isSubscription = lease.startsWith(subscriptionPrefix)
  const source = isSubscription ? lease.slice(subscriptionPrefix.length) : lease
  const manufacturer = source.slice(0, source.indexOf(':'))
  return { ...toProcess(owner), work: isSubscription ? 'link' : 'polling', source, manufacturer, epoch, seconds_left }
}

export function toProcess(owner: string): Process {
  const [, host = owner, pid = ''] = /^(.*):(\d+):[^:]*$/.exec(owner) ?? []
  return { owner, host, pid: Number(pid) }
}

export function describeProcess({ host, pid }: Process): string {
  return `process ${pid} on ${host}`
}

export interface AssignmentInput {
  /** This process. */
  readonly owner: string
  /** Including this one. */
  readonly pollers: readonly string[]
  /** All sources with their current holders (null: none), in the same order for all processes. */
  readonly sources: readonly { readonly source: string; readonly holder: string | null }[]
}

export interface SourceAssignment {
  /** Free sources that this process should acquire. */
  readonly acquire: readonly string[]
  /** Sources that this process should release for other processes. */
  readonly release: readonly string[]
}

/**
 * Decides which sources this process should acquire and release. Every process gets the number of sources divided by
 * the number of processes, rounded down (`floor`) or up (`ceil`). Free sources go first to processes with fewer than
 * `floor`. If these still lack sources, or a process has more than `ceil`, the processes with the most sources release
 * some. All processes see the same input and therefore reach consistent results.
 */
export function assignSources({ owner, pollers, sources }: AssignmentInput): SourceAssignment {
  const counts = new Map(pollers.map((poller) => [poller, 0]))
  for (const { holder } of sources) {
    const count = holder === null ? undefined : counts.get(holder)
    if (holder !== null && count !== undefined) counts.set(holder, count + 1)
  }
  const floor = Math.floor(sources.length / pollers.length)
  const ceil = Math.ceil(sources.length / pollers.length)
  const ownCount = counts.get(owner) ?? 0
  const free = sources.filter(({ holder }) => holder === null).map(({ source }) => source)
  const otherCounts = [...counts].filter(([poller]) => poller !== owner)
  const missingElsewhere = otherCounts.reduce((sum, [, count]) => sum + Math.max(0, floor - count), 0)
  const maxAcquired = Math.max(0, (missingElsewhere > 0 ? floor : ceil) - ownCount)
  return { acquire: free.slice(0, maxAcquired), release: listReleased() }

  function listReleased(): string[] {
    let missing = missingElsewhere + Math.max(0, floor - ownCount) - free.length
    let releasedCount = 0
    for (;;) {
      const [largest, count] = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))[0] ?? ['', 0]
      if (count <= floor || (count <= ceil && missing <= 0)) break
      counts.set(largest, count - 1)
      missing -= 1
      if (largest === owner) releasedCount += 1
    }
    const ownSources = sources.filter(({ holder }) => holder === owner).map(({ source }) => source)
    return releasedCount === 0 ? [] : ownSources.slice(-releasedCount)
  }
}

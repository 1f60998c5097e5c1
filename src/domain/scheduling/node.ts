/** The processes that share a database, and the sources assigned to them. */

import type { NodesBody } from '../../contract/health.ts'

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

function toProcess(owner: string): Process {
  const [, host = owner, pid = ''] = /^(.*):(\d+):[^:]*$/.exec(owner) ?? []
  return { owner, host, pid: Number(pid) }
}

export function describeProcess({ host, pid }: Process): string {
  return `process ${pid} on ${host}`
}

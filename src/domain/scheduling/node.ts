/** The processes that share a database, and the sources that are assigned to them. */

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

interface Process {
  readonly owner: string
  readonly host: string
  readonly pid: number
}

/** A source that is assigned to a process. */
export interface NodeBody extends Process {
  /** `polling`: the process polls the source; `link`: it runs the source's real-time subscription. */
  readonly work: 'polling' | 'link'
  readonly source: string
  readonly manufacturer: string
  /** Increases whenever the lease changes its owner. */
  readonly epoch: number
  /** The time until the lease expires, unless it is renewed. */
  readonly seconds_left: number
}

export interface NodesBody {
  readonly nodes: readonly NodeBody[]
  /** All processes that use this database, with or without a source. */
  readonly processes: readonly Process[]
}

export function toNodes(leases: readonly HeldLease[]): NodesBody {
  const owners = new Set(leases.map(({ owner }) => owner))
  return {
    nodes: leases.filter(({ source }) => !isNodeLease(source)).map(toNode),
    processes: [...owners].sort().map(toProcess),
  }
}

function isNodeLease(lease: string): boolean {
  return lease.startsWith(nodePrefix) || lease.startsWith(pollerPrefix)
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

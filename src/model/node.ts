/** The processes on one database, and which source each of them has taken. */

/** What leases begin with that a process holds on itself, while it runs and while it polls, and those on subscriptions. */
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

/** A source that somebody has taken. */
export interface NodeBody extends Process {
  /** `polling` it, or keeping its real-time `link`. */
  readonly work: 'polling' | 'link'
  readonly source: string
  readonly manufacturer: string
  /** Rises with every change of hands. */
  readonly epoch: number
  /** Until it is free, unless it is prolonged. */
  readonly seconds_left: number
}

export interface NodesBody {
  readonly nodes: readonly NodeBody[]
  /** All that run on this database, with or without a source. */
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
  const isLink = lease.startsWith(subscriptionPrefix)
  const source = isLink ? lease.slice(subscriptionPrefix.length) : lease
  const manufacturer = source.slice(0, source.indexOf(':'))
  return { ...toProcess(owner), work: isLink ? 'link' : 'polling', source, manufacturer, epoch, seconds_left }
}

function toProcess(owner: string): Process {
  const [, host = owner, pid = ''] = /^(.*):(\d+):[^:]*$/.exec(owner) ?? []
  return { owner, host, pid: Number(pid) }
}

export function describeProcess({ host, pid }: Process): string {
  return `process ${pid} on ${host}`
}

/** Distributes sources evenly over the polling processes, with as few changes as possible. */

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

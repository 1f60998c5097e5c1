/** Which sources each of several polling processes takes: as evenly as their number allows, with as few changes. */

export interface AssignmentInput {
  /** This process. */
  readonly owner: string
  /** All processes that share the work, this one among them. */
  readonly pollers: readonly string[]
  /** Every source there is, in an order all processes agree on, and who has it; null: nobody. */
  readonly sources: readonly { readonly source: string; readonly holder: string | null }[]
}

export interface SourceAssignment {
  /** Free ones this process is to take. */
  readonly acquire: readonly string[]
  /** Its own that others should have, once that does no harm. */
  readonly release: readonly string[]
}

/**
 * Everybody has at least `floor` and at most `ceil` of sources by pollers. Free sources go to whoever has fewer than
 * `floor` first; who has more gives up what others lack, those with the most first. All processes see the same standing
 * and so come to the same end.
 */
export function assignSources({ owner, pollers, sources }: AssignmentInput): SourceAssignment {
  const counts = new Map(pollers.map((poller) => [poller, 0]))
  for (const { holder } of sources) {
    const count = holder === null ? undefined : counts.get(holder)
    if (holder !== null && count !== undefined) counts.set(holder, count + 1)
  }
  const floor = Math.floor(sources.length / pollers.length)
  const ceil = Math.ceil(sources.length / pollers.length)
  const mine = counts.get(owner) ?? 0
  const free = sources.filter(({ holder }) => holder === null).map(({ source }) => source)
  const others = [...counts].filter(([poller]) => poller !== owner)
  const lackOfOthers = others.reduce((sum, [, count]) => sum + Math.max(0, floor - count), 0)
  const most = Math.max(0, (lackOfOthers > 0 ? floor : ceil) - mine)
  return { acquire: free.slice(0, most), release: giving() }

  function giving(): string[] {
    let lack = lackOfOthers + Math.max(0, floor - mine) - free.length
    let given = 0
    for (;;) {
      const [richest, count] = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))[0] ?? ['', 0]
      if (count <= floor || (count <= ceil && lack <= 0)) break
      counts.set(richest, count - 1)
      lack -= 1
      if (richest === owner) given += 1
    }
    const own = sources.filter(({ holder }) => holder === owner).map(({ source }) => source)
    return given === 0 ? [] : own.slice(-given)
  }
}

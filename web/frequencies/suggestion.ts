/** What is asked of the service to suggest frequencies, and what its answer means for the carriers. */

import { formatMhz } from '../../src/domain/frequencies/carrier.ts'
import { type Plan, parseFrequency, type ShownCarrier } from './carriers.ts'

export interface MhzRange {
  readonly from: string
  readonly to: string
}

/** Parses ranges in MHz, such as `470-534, 614.5-616`; null if one is not understood. */
export function parseRanges(text: string): readonly MhzRange[] | null {
  const parts = text.split(/[;\n]|,(?!\d)/).filter((part) => part.trim() !== '')
  const ranges = parts.map((part) => {
    const [from = null, to = null, rest] = part.split(/[-–—]/).map(parseFrequency)
    return from === null || to === null || rest !== undefined || from > to
      ? null
      : { from: formatMhz(from), to: formatMhz(to) }
  })
  return ranges.every((range) => range !== null) ? ranges : null
}

/** Returns ranges as a text that `parseRanges` understands. */
export function formatRanges(ranges: readonly MhzRange[]): string {
  return ranges.map(({ from, to }) => `${trim(from)}-${trim(to)}`).join('; ')
}

const trim = (mhz: string) => mhz.replace(/\.?0+$/, '')

/** Returns the carrier as the service checks it. */
export function checkedCarrier({ id, mhz, profile, zone }: ShownCarrier) {
  return { id, mhz, profile, zone }
}

/** Returns how many carriers of each profile are wanted, all within the same ranges. */
export function listWanted(chosen: readonly ShownCarrier[], ranges: readonly MhzRange[]) {
  const counts = new Map<string, number>()
  for (const { profile } of chosen) counts.set(profile, (counts.get(profile) ?? 0) + 1)
  return [...counts].map(([profile, count]) => ({ profile, count, ranges: [...ranges] }))
}

/** Returns the plan with the suggested frequencies, which the chosen carriers get in the order of their slots. */
export function applySuggestion(
  plan: Plan,
  chosen: readonly ShownCarrier[],
  suggested: readonly { readonly profile: string; readonly mhz: string }[],
): Plan {
  const changed = new Map(plan)
  const left = [...suggested]
  for (const { id, profile, presentMhz } of chosen.toSorted((a, b) => a.slot - b.slot)) {
    const index = left.findIndex((carrier) => carrier.profile === profile)
    const [found] = index < 0 ? [] : left.splice(index, 1)
    if (found === undefined) continue
    if (found.mhz === presentMhz) changed.delete(id)
    else changed.set(id, parseFrequency(found.mhz) ?? 0)
  }
  return changed
}

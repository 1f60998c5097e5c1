import { formatMhz } from '../../src/domain/frequencies/carrier.ts'
import { type Plan, parseFrequency, type ShownCarrier } from './carriers.ts'

export interface MhzRange {
  readonly from: string
  readonly to: string
}

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

export function formatRanges(ranges: readonly MhzRange[]): string {
  return ranges.map(({ from, to }) => `${trim(from)}-${trim(to)}`).join('; ')
}

const trim = (mhz: string) => mhz.replace(/\.?0+$/, '')

export function checkedCarrier(carrier: ShownCarrier) {
  const { id, mhz, profile, zone, band, receiver_id, second_mhz, foreign, isTried } = carrier
  return {
    ...{ id, mhz, profile, zone },
    ...(band !== undefined && { band }),
    ...(receiver_id !== undefined && { receiver_id }),
    ...(second_mhz !== undefined && { second_mhz }),
    // Foreign RF is known only at the current frequency.
    ...(foreign === true && !isTried && { foreign }),
  }
}

/**
 * The suggestion is for carriers without a zone, so carriers of its zone have none, and all others are in another
 * one.
 */
export function listKept(carriers: readonly ShownCarrier[], chosen: readonly ShownCarrier[], zone: string | null) {
  const ids = new Set(chosen.map(({ id }) => id))
  return carriers
    .filter(({ id }) => !ids.has(id))
    .map((carrier) => ({ ...checkedCarrier(carrier), zone: carrier.zone === zone ? null : 'other' }))
}

export function listZones(chosen: readonly ShownCarrier[]): readonly (string | null)[] {
  return [...new Set(chosen.map(({ zone }) => zone))]
}

export function listWanted(chosen: readonly ShownCarrier[], ranges: readonly MhzRange[]) {
  const wanted = new Map<string, { profile: string; band?: string; count: number; ranges: MhzRange[] }>()
  for (const { profile, band } of chosen) {
    const key = JSON.stringify([profile, band])
    const count = (wanted.get(key)?.count ?? 0) + 1
    wanted.set(key, { profile, ...(band !== undefined && { band }), count, ranges: [...ranges] })
  }
  return [...wanted.values()]
}

export function applySuggestion(
  plan: Plan,
  chosen: readonly ShownCarrier[],
  suggested: readonly { readonly profile: string; readonly band?: string | undefined; readonly mhz: string }[],
): Plan {
  const changed = new Map(plan)
  const left = [...suggested]
  for (const { id, profile, band, presentMhz } of chosen.toSorted((a, b) => a.slot - b.slot)) {
    const index = left.findIndex((carrier) => carrier.profile === profile && carrier.band === band)
    const [found] = index < 0 ? [] : left.splice(index, 1)
    if (found === undefined) continue
    if (found.mhz === presentMhz) changed.delete(id)
    else changed.set(id, parseFrequency(found.mhz) ?? 0)
  }
  return changed
}

import type { FrequencySuggestionBody } from '../../src/contract/frequencies.ts'
import { formatMhz } from '../../src/domain/frequencies/carrier.ts'
import { parseFrequency, type ShownCarrier, shortMhz, type Tried } from './carriers.ts'

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
  return ranges.map(({ from, to }) => `${shortMhz(from)}-${shortMhz(to)}`).join('; ')
}

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

export type UnplacedReason = FrequencySuggestionBody['unplaced'][number]['reason']

/** A carrier that did not fit. It keeps its frequency. */
export interface Unplaced {
  readonly carrier: ShownCarrier
  /** Null only if the response counts fewer carriers. */
  readonly reason: UnplacedReason | null
}

type SoftKinds = FrequencySuggestionBody['carriers'][number]['soft']

export interface Suggestion {
  readonly tried: Tried
  readonly unplaced: readonly Unplaced[]
  /** The kinds of conflicts that were accepted to place a carrier, by carrier. */
  readonly accepted: ReadonlyMap<string, SoftKinds>
}

export const nothingTried: Suggestion = { tried: new Map(), unplaced: [], accepted: new Map() }

/** Gives the suggested frequencies to the chosen carriers by slot. */
export function applySuggestion(
  { tried, unplaced, accepted }: Suggestion,
  chosen: readonly ShownCarrier[],
  suggested: Pick<FrequencySuggestionBody, 'carriers' | 'unplaced'>,
): Suggestion {
  const changed = new Map(tried)
  const soft = new Map(accepted)
  const missing: ShownCarrier[] = []
  const left = [...suggested.carriers]
  const placed = new Map<string, string>()
  for (const carrier of chosen.toSorted((a, b) => a.slot - b.slot)) {
    const { id, profile, band, presentMhz } = carrier
    const index = left.findIndex((candidate) => candidate.profile === profile && candidate.band === band)
    const [found] = index < 0 ? [] : left.splice(index, 1)
    soft.delete(id)
    if (found === undefined) {
      missing.push(carrier)
      continue
    }
    placed.set(`new:${found.mhz}`, id)
    if (found.soft.length > 0) soft.set(id, found.soft)
    if (found.mhz === presentMhz) changed.delete(id)
    else changed.set(id, parseFrequency(found.mhz) ?? 0)
  }
  const added = withReasons(missing, suggested.unplaced, placed)
  return { tried: changed, unplaced: [...unplaced, ...added], accepted: soft }
}

/** The reasons name the carriers that got the new frequencies. */
function withReasons(
  missing: readonly ShownCarrier[],
  unplaced: FrequencySuggestionBody['unplaced'],
  placed: ReadonlyMap<string, string>,
): Unplaced[] {
  const reasons = unplaced.flatMap(({ profile, band, count, reason }) => {
    const by = reason.by.map((id) => placed.get(id) ?? id)
    return Array.from({ length: count }, () => ({ profile, band, reason: { ...reason, by } }))
  })
  return missing.map((carrier) => {
    const index = reasons.findIndex(({ profile, band }) => profile === carrier.profile && band === carrier.band)
    const [found] = index < 0 ? [] : reasons.splice(index, 1)
    return { carrier, reason: found?.reason ?? null }
  })
}

export function withTried(carriers: readonly ShownCarrier[], tried: Tried): readonly ShownCarrier[] {
  return carriers.map((carrier) => {
    const khz = tried.get(carrier.id)
    return khz === undefined ? carrier : { ...carrier, khz, mhz: formatMhz(khz), isTried: true }
  })
}

/** From the lowest to the highest frequency, in whole MHz. */
export function usualRange(carriers: readonly ShownCarrier[]): MhzRange {
  const frequencies = carriers.map(({ khz }) => khz)
  const [from, to] = [Math.floor(Math.min(...frequencies) / 1000), Math.ceil(Math.max(...frequencies) / 1000)]
  return { from: `${from}.000`, to: `${Math.max(from + 1, to)}.000` }
}

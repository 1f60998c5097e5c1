import { useMemo } from 'react'
import type { FrequenciesBody, FrequencyConflictBody } from '../../src/contract/frequencies.ts'
import type { CountryBandsBody } from '../../src/contract/places.ts'
import type { Severity } from '../../src/contract/values.ts'
import { parseMhz } from '../../src/domain/frequencies/carrier.ts'
import { listTvChannels, type TvChannel } from '../../src/domain/frequencies/tv-raster.ts'
import { type ShownCarrier, showCarriers, type Tried } from './carriers.ts'
import { conflictKey, type FindCarrier, findPeak, markedMhz, severityOf, sortConflicts } from './conflict-text.ts'
import type { Scene } from './drawing.ts'
import { productsNear, type Trace } from './layout.ts'
import type { RecordedNoise } from './live-levels.ts'

export type Selected =
  | { readonly kind: 'carrier'; readonly id: string }
  | { readonly kind: 'conflict'; readonly conflict: FrequencyConflictBody }
  | null

export function useCarriers({ carriers }: FrequenciesBody, tried: Tried, slots: readonly number[] | null) {
  return useMemo(() => {
    const all = showCarriers(carriers, tried)
    return { all, shown: slots === null ? all : all.filter(({ slot }) => slots.includes(slot)) }
  }, [carriers, tried, slots])
}

export interface ShownConflicts {
  readonly sorted: readonly FrequencyConflictBody[]
  readonly victims: ReadonlyMap<string, Severity>
  readonly counts: ReadonlyMap<string, number>
  readonly find: FindCarrier
}

const unknown: ReturnType<FindCarrier> = { label: '', mhz: null, state: 'off', noise_dbm: null }

export function useConflicts(
  all: readonly ShownCarrier[],
  shown: readonly ShownCarrier[],
  { conflicts, victims: totals }: Pick<FrequenciesBody, 'conflicts' | 'victims'>,
): ShownConflicts {
  return useMemo(() => {
    const byId = new Map(all.map((carrier) => [carrier.id, carrier]))
    const find: FindCarrier = (id) => byId.get(id) ?? findPeak(id) ?? { ...unknown, name: id }
    const ids = new Set(shown.map(({ id }) => id))
    const own = conflicts.filter((conflict) => victimsOf(conflict).some((id) => ids.has(id)))
    const sorted = sortConflicts(own, find)
    const victims = new Map<string, Severity>()
    const counts = new Map(Object.entries(totals))
    for (const conflict of sorted) {
      for (const id of victimsOf(conflict)) {
        if (!victims.has(id)) victims.set(id, severityOf(conflict))
        // The service counts a pair of carriers only for the victim.
        if (id !== conflict.victim) counts.set(id, (counts.get(id) ?? 0) + 1)
      }
    }
    // None of their conflicts is listed.
    for (const { id } of shown) if (counts.has(id) && !victims.has(id)) victims.set(id, 'warning')
    return { sorted, victims, counts, find }
  }, [all, shown, conflicts, totals])
}

/** A conflict of two carriers counts for both. */
export function victimsOf({ kind, victim, generators }: FrequencyConflictBody): readonly string[] {
  return kind === 'spacing' || kind === 'duplicate' ? [victim, ...generators] : [victim]
}

interface SceneOptions {
  readonly shown: readonly ShownCarrier[]
  readonly all: readonly ShownCarrier[]
  readonly conflicts: ShownConflicts
  readonly selected: Selected
  readonly noise: ReadonlyMap<string, RecordedNoise>
  readonly region: FrequenciesBody['region']
  readonly tvInUse: readonly TvChannel[]
  readonly traces: readonly (Trace | null)[]
  readonly bands: CountryBandsBody | null
}

export function useScene({
  shown,
  all,
  conflicts,
  selected,
  noise,
  region,
  tvInUse,
  traces,
  bands,
}: SceneOptions): Scene {
  const highlighted = useMemo(() => {
    if (selected === null) return new Set<string>()
    if (selected.kind === 'carrier') return new Set([selected.id])
    return new Set([selected.conflict.victim, ...selected.conflict.generators])
  }, [selected])
  // Levels change often, frequencies seldom.
  const frequencies = all.map(({ khz, zone }) => `${khz} ${zone ?? ''}`).join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: `frequencies` contains everything that is used of `all`.
  const products = useMemo(
    () =>
      productsNear(
        all,
        all.map(({ khz }) => khz),
      ),
    [frequencies],
  )
  return useMemo((): Scene => {
    const selectedKey = selected?.kind === 'conflict' ? conflictKey(selected.conflict) : null
    return {
      ...{ carriers: shown, victims: conflicts.victims, highlighted, products },
      noise: withoutTried(noise, shown),
      hits: conflicts.sorted.flatMap((conflict) => {
        const khz = parseMhz(markedMhz(conflict) ?? '')
        if (khz === null) return []
        return [{ khz, severity: severityOf(conflict), isSelected: conflictKey(conflict) === selectedKey }]
      }),
      tvChannels: listTvChannels(region),
      tvInUse: new Set(tvInUse.map(({ name }) => name)),
      bands: (bands?.bands ?? []).map(({ from_mhz, to_mhz, status }) => {
        return { fromKhz: parseMhz(from_mhz) ?? 0, toKhz: parseMhz(to_mhz) ?? 0, status }
      }),
      traces: traces.flatMap((trace, colour) => (trace === null ? [] : [{ trace, colour }])),
    }
  }, [shown, conflicts, highlighted, products, noise, region, tvInUse, traces, bands, selected])
}

/** The noise on a tried frequency is unknown. */
function withoutTried(noise: SceneOptions['noise'], carriers: readonly ShownCarrier[]): SceneOptions['noise'] {
  const kept = new Map(noise)
  for (const { id, isTried } of carriers) if (isTried) kept.delete(id)
  return kept
}

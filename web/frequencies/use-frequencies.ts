import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { FrequencyCheckBody, MeasuredBody } from '../../src/contract/frequencies.ts'
import type { ScanBody } from '../../src/contract/scans.ts'
import type { GuardLevel, Region } from '../../src/contract/values.ts'
import { parseTvInUse } from '../../src/domain/frequencies/tv-raster.ts'
import { useServices } from '../app/context.ts'
import { RefusedRequest } from '../app/query-client.ts'
import { resourceQuery, useResource } from '../app/resource.ts'
import type { ShownCarrier, Tried } from './carriers.ts'
import { buildTrace, type Trace } from './layout.ts'
import { noiseByCarrier, type RecordedNoise } from './live-levels.ts'
import { checkedCarrier } from './suggestion.ts'

const topics = ['frequencies', 'slot_records', 'settings', 'groups'] as const

export function useFrequencies(level: GuardLevel, isOnlyOn: boolean) {
  return useResource(`/api/frequencies/?${queryOf(level, isOnlyOn)}`, 'object', topics)
}

/** The full list may be truncated. Null without a group, and until it is read. */
export function useGroupConflicts(group: number | null, level: GuardLevel, isOnlyOn: boolean) {
  const { api } = useServices()
  const query = queryOf(level, isOnlyOn)
  if (group !== null) query.set('group', String(group))
  const { data } = useQuery({
    ...resourceQuery(api, { address: `/api/frequencies/?${query}`, shape: 'object', topics }),
    enabled: group !== null,
  })
  return group === null ? null : (data ?? null)
}

function queryOf(level: GuardLevel, isOnlyOn: boolean): URLSearchParams {
  return new URLSearchParams({ level, ...(isOnlyOn && { only_on: '1' }) })
}

export type MeasuredLimits = Omit<MeasuredBody, 'version'>

/** The scans that are considered, as checks take them. Null until they are read. */
export function useMeasured() {
  const { body, reload } = useResource('/api/frequencies/measured/', 'object', topics)
  const limits = useMemo((): MeasuredLimits | null => {
    if (body === null) return null
    const { version: _, ...rest } = body
    return rest
  }, [body])
  return { body, limits, reload }
}

/** The TV channels that are marked as in use. */
export function useTvInUse(region: Region) {
  const { body, reload } = useResource('/api/config/', 'object', ['settings'])
  const names = body?.TV_IN_USE ?? ''
  const inUse = useMemo(() => parseTvInUse(region, names).inUse, [region, names])
  return { inUse, reload }
}

/** No message announces recorded noise. */
const noiseIntervalMs = 60_000

export function useNoise(carriers: readonly ShownCarrier[]): ReadonlyMap<string, RecordedNoise> {
  const { body } = useResource('/api/frequencies/noise/', 'object', [], noiseIntervalMs)
  return useMemo(() => noiseByCarrier(body ?? { channels: [] }, carriers), [body, carriers])
}

export function useCheck(
  { all, shown }: { readonly all: readonly ShownCarrier[]; readonly shown: readonly ShownCarrier[] },
  tried: Tried,
  level: GuardLevel,
  measured: MeasuredLimits | null,
) {
  const body = useMemo(() => {
    const victims = shown.length === all.length ? {} : { victims: shown.map(({ id }) => id) }
    return { carriers: all.map(checkedCarrier), ...victims, level, ...(measured !== null && { measured }) }
  }, [all, shown, level, measured])
  const { data, error } = useCheckQuery(body, tried.size > 0)
  if (tried.size === 0) return { result: null, problem: null }
  return { result: data ?? null, problem: error?.problem ?? null }
}

/** The check of tried frequencies knows whether scans cover them. */
export function useMeasuredStates(
  carriers: readonly ShownCarrier[],
  result: FrequencyCheckBody | null,
): readonly ShownCarrier[] {
  return useMemo(() => {
    if (result === null) return carriers
    const states = new Map(result.carriers.map(({ id, measured }) => [id, measured]))
    return carriers.map((carrier) => ({ ...carrier, measured: states.get(carrier.id) ?? carrier.measured }))
  }, [carriers, result])
}

/** The full list may be truncated. Null without a carrier, and until they are found. */
export function useCarrierConflicts(
  all: readonly ShownCarrier[],
  id: string | null,
  level: GuardLevel,
  measured: MeasuredLimits | null,
): FrequencyCheckBody | null {
  const body = useMemo(() => {
    // Of two carriers that are too close, the last one is the victim.
    const carriers = [...all.filter((carrier) => carrier.id !== id), ...all.filter((carrier) => carrier.id === id)]
    const victims = id === null ? [] : [id]
    return { carriers: carriers.map(checkedCarrier), victims, level, ...(measured !== null && { measured }) }
  }, [all, id, level, measured])
  const { data } = useCheckQuery(body, id !== null)
  return id === null ? null : (data ?? null)
}

interface CheckRequest {
  readonly carriers: readonly ReturnType<typeof checkedCarrier>[]
  readonly victims?: readonly string[]
  readonly level: GuardLevel
  readonly measured?: MeasuredLimits
}

function useCheckQuery(body: CheckRequest, isEnabled: boolean) {
  const { api } = useServices()
  return useQuery<FrequencyCheckBody, RefusedRequest>({
    queryKey: ['check frequencies', body],
    queryFn: async () => {
      const response = await api.write('POST', '/api/frequencies/check/', body, 'object')
      if (response.ok) return response.body
      throw new RefusedRequest(response.problem)
    },
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
}

export function useTraces(scans: readonly ScanBody[]): readonly (Trace | null)[] {
  const { api } = useServices()
  return useQueries({
    queries: scans.map(({ id }) => ({
      ...resourceQuery(api, { address: `/api/scans/${id}/`, shape: 'object', topics: [] }),
      staleTime: Number.POSITIVE_INFINITY,
    })),
    combine: combineTraces,
  })
}

type ScanLevels = { readonly id: number; readonly mhz: readonly string[]; readonly dbm: readonly number[] }

function combineTraces(results: readonly { readonly data: ScanLevels | undefined }[]): readonly (Trace | null)[] {
  return results.map(({ data }) => (data === undefined ? null : traceOfScan(data)))
}

const traces = new WeakMap<ScanLevels, Trace>()

function traceOfScan(levels: ScanLevels): Trace {
  const known = traces.get(levels)
  if (known !== undefined) return known
  const trace = buildTrace(levels.mhz.map(Number), levels.dbm)
  traces.set(levels, trace)
  return trace
}

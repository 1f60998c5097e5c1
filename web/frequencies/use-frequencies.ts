/** Hooks that read the frequencies, check a plan, and read scans. */

import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import type { FrequencyCheckBody } from '../../src/contract/resources/frequencies.ts'
import type { ScanBody } from '../../src/contract/resources/scans.ts'
import type { GuardLevel } from '../../src/contract/values.ts'
import { useServices, useWatchState } from '../context.ts'
import { RefusedRequest } from '../query-client.ts'
import { resourceQuery, useResource } from '../resource.ts'
import type { WatchState } from '../state.ts'
import type { Plan, ShownCarrier } from './carriers.ts'
import { buildTrace, type Trace } from './layout.ts'
import { checkedCarrier } from './suggestion.ts'

const topics = ['placeholders', 'settings', 'groups', 'receiver_removed', 'channel_removed'] as const
/** How often noise on idle channels is read, which no message announces. */
const noiseMs = 10_000
/** Minimum time between two reads because of changed channels. */
const throttleMs = 1_000

/** Reads the carriers and their conflicts, also again when a frequency or a transmitter changes. */
export function useFrequencies(level: GuardLevel, isOnlyOn: boolean) {
  const query = new URLSearchParams({ level, ...(isOnlyOn && { only_on: '1' }) })
  const resource = useResource(`/api/frequencies/?${query}`, 'object', topics, noiseMs)
  const { reload } = resource
  const carriers = useWatchState(carriersOf)
  const known = useRef(carriers)
  const readAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (carriers === known.current) return
    const timer = setTimeout(
      () => {
        known.current = carriers
        readAt.current = performance.now()
        void reload()
      },
      Math.max(0, readAt.current + throttleMs - performance.now()),
    )
    return () => clearTimeout(timer)
  }, [carriers, reload])
  return resource
}

let latest: { readonly receivers: WatchState['receivers']; readonly text: string } | null = null

/** Returns a text that changes with the name and frequency of a channel, and when its transmitter goes on or off. */
function carriersOf({ receivers }: WatchState): string {
  if (latest?.receivers !== receivers) {
    const channels = [...receivers.values()].flatMap((receiver) => receiver.channels)
    const parts = channels.map(({ id, name, frequency, transmitter }) =>
      [id, name, transmitter?.frequency ?? frequency, transmitter !== null].join(' '),
    )
    latest = { receivers, text: parts.join('\n') }
  }
  return latest.text
}

/** Lets the service check the frequencies of a plan; null without a plan, and until they have been checked. */
export function useCheck(carriers: readonly ShownCarrier[], plan: Plan, level: GuardLevel) {
  const { api } = useServices()
  const body = useMemo(() => ({ carriers: carriers.map(checkedCarrier), level }), [carriers, level])
  const { data, error } = useQuery<FrequencyCheckBody, RefusedRequest>({
    queryKey: ['check frequencies', body],
    queryFn: async () => {
      const response = await api.write('POST', '/api/frequencies/check/', body, 'object')
      if (response.ok) return response.body
      throw new RefusedRequest(response.problem)
    },
    enabled: plan.size > 0,
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
  if (plan.size === 0) return { result: null, problem: null }
  return { result: data ?? null, problem: error?.problem ?? null }
}

/** Reads the levels of scans; null for those that are still being read. */
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
  return results.map(({ data }) => (data === undefined ? null : traceOf(data)))
}

const traces = new WeakMap<ScanLevels, Trace>()

function traceOf(levels: ScanLevels): Trace {
  const known = traces.get(levels)
  if (known !== undefined) return known
  const trace = buildTrace(levels.mhz.map(Number), levels.dbm)
  traces.set(levels, trace)
  return trace
}

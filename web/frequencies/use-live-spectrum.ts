import { useQuery } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useServices } from '../app/context.ts'
import { subscribeToSeconds } from '../app/now.ts'
import { useSearch } from '../app/query.ts'
import { resourceQuery } from '../app/resource.ts'
import { serviceNow } from '../app/service-time.ts'
import { LiveSpectrum } from './live-spectrum.ts'

/** No message says that another user has reset the maximum, or deleted the source. */
const readIntervalMs = 60_000

/** The sweeps of the source in the address. A hidden page receives none. */
export function useLiveSpectrum() {
  const { api, live } = useServices()
  const [search, change] = useSearch()
  const source = new URLSearchParams(search).get('live')
  const [spectrum] = useState(() => new LiveSpectrum())
  const isVisible = useSyncExternalStore(subscribeToVisibility, () => !document.hidden)
  const { data, error, refetch } = useQuery({
    ...resourceQuery(api, {
      address: `/api/sweeps/${encodeURIComponent(source ?? '')}/`,
      shape: 'object',
      topics: ['snapshot'],
      intervalMs: readIntervalMs,
    }),
    enabled: source !== null && isVisible,
    gcTime: 0,
  })
  const isKnown = error === null && data?.source === source
  useEffect(() => {
    if (data === undefined || !isKnown) spectrum.clear()
    else spectrum.read(data, serviceNow())
  }, [spectrum, data, isKnown])
  useEffect(() => {
    if (source === null || !isVisible) return
    return live.followSweeps({ source, receive: (message) => spectrum.receive(message, serviceNow()) })
  }, [live, spectrum, source, isVisible])
  useEffect(() => subscribeToSeconds(() => spectrum.tick(serviceNow())), [spectrum])
  return {
    source,
    spectrum,
    problem: error?.problem ?? null,
    choose: (name: string | null) => change({ live: name }),
    async reload() {
      await refetch()
    },
  }
}

function subscribeToVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}

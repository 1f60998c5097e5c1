import { useState } from 'react'
import { useResource } from '../app/resource.ts'
import { useTraces } from './use-frequencies.ts'

/** At first, the scans that are considered are drawn; without any, the latest upload. */
export function useScans(considered: readonly number[]) {
  const resource = useResource('/api/scans/', 'list', ['scans'])
  const [choices, setChoices] = useState<ReadonlyMap<number, boolean>>(new Map())
  const newest = Math.max(...(resource.body ?? []).map(({ id }) => id))
  const has = (id: number) => choices.get(id) ?? (considered.length === 0 ? id === newest : considered.includes(id))
  const drawn = (resource.body ?? []).filter(({ id }) => has(id))
  const toggle = (id: number) => setChoices(new Map(choices).set(id, !has(id)))
  return { resource, drawn, shown: { ids: drawn.map(({ id }) => id), has, toggle }, traces: useTraces(drawn) }
}
